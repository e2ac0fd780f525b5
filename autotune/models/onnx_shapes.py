"""Shapes and element types of every tensor at given sizes of the symbolic dimensions, without the weights' bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from autotune.core.model import TensorFacts
from autotune.models.dims import evaluate

__all__ = ["Inferred", "Shapes", "fixed_copy", "infer_shapes", "infer_tensors"]

Shapes = Mapping[str, tuple[int, ...]]


class Inferred(NamedTuple):
    """A tensor whose shape is fully known; ``code`` is ONNX's number of its element type."""

    shape: tuple[int, ...]
    code: int


_SMALL = 4096  # bytes: constants up to this size may be shapes, and are kept


def infer_shapes(model: Any, inputs: Sequence[TensorFacts], dims: Mapping[str, int]) -> Shapes:
    """Return name → shape for each tensor that ``infer_tensors`` knows."""
    return {name: tensor.shape for name, tensor in infer_tensors(model, inputs, dims).items()}


def infer_tensors(model: Any, inputs: Sequence[TensorFacts], dims: Mapping[str, int]) -> dict[str, Inferred]:
    """Return each tensor of the top graph whose shape is fully known; what is unknown is absent.

    ONNX's own shape inference runs on a copy whose large weights are stubs: nothing large is copied or serialised.
    """
    from onnx.shape_inference import InferenceError
    from onnx.shape_inference import infer_shapes as infer

    stub = fixed_copy(model, inputs, dims)
    try:
        graph = infer(stub, data_prop=True).graph
    except (InferenceError, RuntimeError, ValueError):
        graph = stub.graph
    found = {
        tensor.name: Inferred(tuple(int(size) for size in tensor.dims), int(tensor.data_type))
        for tensor in graph.initializer
    }
    for value in (*graph.value_info, *graph.input, *graph.output):
        tensor = _known(value)
        if tensor is not None:
            found.setdefault(value.name, tensor)
    return found


def fixed_copy(model: Any, inputs: Sequence[TensorFacts], dims: Mapping[str, int]) -> Any:
    """A copy whose inputs have these sizes, and whose large weights are stubs: name, type and shape, marked as external."""
    from onnx import GraphProto, ModelProto

    graph = GraphProto(name=model.graph.name, node=model.graph.node, output=model.graph.output)
    graph.initializer.extend(_light(tensor) for tensor in model.graph.initializer)
    sizes = {one.name: [evaluate(dim, dims) for dim in one.shape] for one in inputs if one.shape is not None}
    for value in model.graph.input:
        graph.input.append(value)
        _fix(graph.input[-1], sizes.get(value.name, []))
    stub = ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    stub.graph.CopyFrom(graph)
    return stub


def _light(tensor: Any) -> Any:
    """The tensor itself when small; else its name, type and shape alone."""
    from onnx import TensorProto

    if tensor.data_location == TensorProto.DEFAULT and tensor.ByteSize() <= _SMALL:
        return tensor
    light = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
    light.data_location = TensorProto.EXTERNAL
    return light


def _fix(value: Any, sizes: Sequence[int | None]) -> None:
    if value.type.WhichOneof("value") != "tensor_type":
        return
    for dim, size in zip(value.type.tensor_type.shape.dim, sizes, strict=False):
        if size is not None:
            dim.dim_value = size


def _known(value: Any) -> Inferred | None:
    kind = value.type
    if kind.WhichOneof("value") != "tensor_type" or not kind.tensor_type.HasField("shape"):
        return None
    dims = kind.tensor_type.shape.dim
    if not all(dim.HasField("dim_value") for dim in dims):
        return None
    return Inferred(tuple(int(dim.dim_value) for dim in dims), int(kind.tensor_type.elem_type))

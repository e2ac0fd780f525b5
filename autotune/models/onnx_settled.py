"""A graph whose shapes are settled: what onnx's inference leaves open, onnxruntime's constant folding often closes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from autotune.core.model import TensorFacts
from autotune.models.onnx_shapes import Inferred, fixed_copy, infer_tensors

__all__ = ["Settled", "settled"]


class Settled(NamedTuple):
    """``graph`` at concrete sizes; ``tensors`` of it whose shape is known; ``constants`` by name."""

    graph: Any
    tensors: Mapping[str, Inferred]
    constants: frozenset[str]


def settled(model: Any, inputs: Sequence[TensorFacts], dims: Mapping[str, int]) -> Settled:
    """Return the ``onnx.ModelProto``'s graph at ``dims`` as it is where its shapes are known, else folded by onnxruntime.

    Shapes that are computed by operators which inference cannot follow become known once those are evaluated, and all that
    they depend on are sizes. No weight is needed for that: the large ones are inputs of what onnxruntime is given.
    """
    plain = Settled(model.graph, infer_tensors(model, inputs, dims), _constants(model.graph))
    if _complete(plain):
        return plain
    folded = _folded(model, inputs, dims)
    if folded is None:
        return plain
    return Settled(folded.graph, infer_tensors(folded, (), {}), _constants(folded.graph) | plain.constants)


def _constants(graph: Any) -> frozenset[str]:
    return frozenset(tensor.name for tensor in graph.initializer) | {
        one.values.name for one in graph.sparse_initializer
    }


def _complete(found: Settled) -> bool:
    return all(name in found.tensors for node in found.graph.node for name in node.output if name)


def _folded(model: Any, inputs: Sequence[TensorFacts], dims: Mapping[str, int]) -> Any:
    """As onnxruntime's basic optimisations leave it; None when it refuses the graph at these sizes."""
    import onnx
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    with tempfile.TemporaryDirectory(prefix="autotune-shapes-") as folder:
        target = Path(folder) / "model.onnx"
        options.optimized_model_filepath = str(target)
        try:
            bare = _without_weights(fixed_copy(model, inputs, dims))
            ort.InferenceSession(bare.SerializeToString(), options, providers=["CPUExecutionProvider"])
            return onnx.load(target)
        except Exception:  # onnxruntime's exceptions share no base class of their own
            return None


def _without_weights(model: Any) -> Any:
    """Large weights as inputs; whatever shapes the file declares are dropped, since they were made for other sizes."""
    from onnx import TensorProto, helper

    graph = model.graph
    listed = {value.name for value in graph.input}
    weights = [tensor for tensor in graph.initializer if tensor.data_location == TensorProto.EXTERNAL]
    for tensor in weights:
        if tensor.name not in listed:
            graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
        graph.initializer.remove(tensor)
    for value in graph.output:
        value.type.tensor_type.ClearField("shape")
    return model

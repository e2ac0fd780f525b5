"""A graph's true inputs and its outputs, as facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.core.errors import UserError
from autotune.core.model import TensorFacts
from autotune.models.onnx_types import dtype_name

__all__ = ["signature", "true_inputs"]

Bounds = Mapping[str, tuple[float, float]]
_UNNAMED = ("", "?", "None", "-1")  # what exporters write for an axis of any size, unrelated to any other
_KINDS = {"sequence_type": "sequence", "optional_type": "optional", "map_type": "map", "sparse_tensor_type": "sparse"}


def signature(graph: Any, bounds: Bounds) -> tuple[tuple[TensorFacts, ...], tuple[TensorFacts, ...]]:
    """Return (inputs, outputs). Initialisers that are listed as inputs too are weights, not inputs.

    An input's axis that has neither size nor name gets a name, so that ``--dim`` can size it: ``batch`` when it is the
    first axis of every input, else the input's name and the axis (``x.2``). ``bounds`` maps names to legal values.
    Raises ``UserError`` when an input has no element type.
    """
    inputs = [_facts(value, bounds) for value in true_inputs(graph)]
    for one in inputs:
        if one.dtype == "undefined" and one.kind == "tensor":
            raise UserError(f"input {one.name!r} of the model has no element type", "export the model again")
    free = bool(inputs) and all(one.shape and one.shape[0] is None for one in inputs)
    return tuple(_named(one, free) for one in inputs), tuple(_facts(value, {}) for value in graph.output)


def true_inputs(graph: Any) -> list[Any]:
    """The ``ValueInfoProto`` of each input that must be fed."""
    weights = {tensor.name for tensor in graph.initializer}
    weights |= {tensor.values.name for tensor in graph.sparse_initializer}
    return [value for value in graph.input if value.name not in weights]


def _facts(value: Any, bounds: Bounds) -> TensorFacts:
    which = value.type.WhichOneof("value") or "tensor_type"
    tensor = _innermost(value.type)
    low, high = bounds.get(value.name, (None, None))
    return TensorFacts(
        name=value.name,
        dtype=dtype_name(tensor.elem_type),
        shape=_shape(tensor),
        low=low,
        high=high,
        kind=_KINDS.get(which, "tensor"),
    )


def _innermost(kind: Any) -> Any:
    """The tensor type inside a sequence or optional; a map's value type."""
    while True:
        which = kind.WhichOneof("value") or "tensor_type"
        if which in ("tensor_type", "sparse_tensor_type"):
            return getattr(kind, which)
        holder = getattr(kind, which)
        kind = holder.value_type if which == "map_type" else holder.elem_type


def _shape(tensor: Any) -> tuple[int | str | None, ...] | None:
    if not tensor.HasField("shape"):
        return None
    return tuple(_dim(dim) for dim in tensor.shape.dim)


def _dim(dim: Any) -> int | str | None:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    return None if dim.dim_param in _UNNAMED else str(dim.dim_param)


def _named(one: TensorFacts, free: bool) -> TensorFacts:
    if one.shape is None or None not in one.shape:
        return one
    names = ["batch" if axis == 0 and free else f"{one.name}.{axis}" for axis in range(len(one.shape))]
    shape = tuple(name if size is None else size for name, size in zip(names, one.shape, strict=True))
    return one.model_copy(update={"shape": shape})

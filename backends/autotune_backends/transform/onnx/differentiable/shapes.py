"""Operators that move entries without computing, and those that compute shapes."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from autotune_backends.transform.onnx.differentiable.call import Call, Operator

__all__ = ["SHAPES"]


def _sizes(call: Call, position: int) -> list[int]:
    return [int(size) for size in call[position]]


def _reshape(call: Call) -> Any:
    """A size of 0 is the input's."""
    shape, given = call[0].shape, _sizes(call, 1)
    keep = not call.get("allowzero", 0)
    return call[0].reshape([shape[axis] if size == 0 and keep else size for axis, size in enumerate(given)])


def _flatten(call: Call) -> Any:
    shape = call[0].shape
    axis = call.get("axis", 1)
    return call[0].reshape(prod(shape[: axis % (call[0].ndim + 1)]), -1)


def _transpose(call: Call) -> Any:
    return call[0].permute(call.get("perm", list(reversed(range(call[0].ndim)))))


def _split(call: Call) -> Any:
    axis = call.get("axis", 0)
    length = call[0].shape[axis]
    sizes = call.get("split") if call[1] is None else _sizes(call, 1)
    return call.torch.split(call[0], sizes or -(-length // call.outputs), dim=axis)


def _slice(call: Call) -> Any:
    """Steps forward: PyTorch has no others."""
    starts, ends = _sizes(call, 1), _sizes(call, 2)
    axes = list(range(len(starts))) if call[3] is None else _sizes(call, 3)
    steps = [1] * len(starts) if call[4] is None else _sizes(call, 4)
    cuts = [slice(None)] * call[0].ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        cuts[axis] = slice(start, end, step)
    return call[0][tuple(cuts)]


def _gather(call: Call) -> Any:
    axis = call.get("axis", 0) % call[0].ndim
    length = call[0].shape[axis]
    indices = call.torch.where(call[1] < 0, call[1] + length, call[1])
    taken = call[0].index_select(axis, indices.reshape(-1))
    return taken.reshape(*call[0].shape[:axis], *indices.shape, *call[0].shape[axis + 1 :])


def _squeeze(call: Call) -> Any:
    axes = call.axes()
    return call[0].squeeze() if axes is None else call[0].squeeze(axes)


def _unsqueeze(call: Call) -> Any:
    axes = call.axes() or []
    rank = call[0].ndim + len(axes)
    values = call[0]
    for axis in sorted(axis % rank for axis in axes):
        values = values.unsqueeze(axis)
    return values


def _shape(call: Call) -> Any:
    sizes = list(call[0].shape)[call.get("start", 0) : call.get("end")]
    return call.torch.tensor(sizes, dtype=call.torch.int64)


def _expand(call: Call) -> Any:
    return call.torch.broadcast_to(call[0], call.torch.broadcast_shapes(call[0].shape, _sizes(call, 1)))


SHAPES: Mapping[str, Operator] = {
    "Concat": lambda call: call.torch.cat(list(call.inputs), dim=call.get("axis")),
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "Reshape": _reshape,
    "Shape": _shape,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": lambda call: call[0].repeat(_sizes(call, 1)),
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
"""By name."""

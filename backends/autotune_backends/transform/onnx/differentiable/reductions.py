"""Sums, means and extremes over axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune_backends.transform.onnx.differentiable.call import Call, Operator

__all__ = ["REDUCTIONS"]


def _over_axes(reduce: Callable[[Any, list[int], bool], Any]) -> Operator:
    """The operator that reduces over its axes; over all of them when none are given."""

    def reduced(call: Call) -> Any:
        axes = call.axes() or []
        if not axes and call.get("noop_with_empty_axes", 0):
            return call[0]
        every = [axis % call[0].ndim for axis in axes] or list(range(call[0].ndim))
        return reduce(call[0], every, bool(call.get("keepdims", 1)))

    return reduced


REDUCTIONS: Mapping[str, Operator] = {
    "ReduceL2": _over_axes(lambda values, axes, keep: values.square().sum(axes, keepdim=keep).sqrt()),
    "ReduceMax": _over_axes(lambda values, axes, keep: values.amax(axes, keepdim=keep)),
    "ReduceMean": _over_axes(lambda values, axes, keep: values.mean(axes, keepdim=keep)),
    "ReduceMin": _over_axes(lambda values, axes, keep: values.amin(axes, keepdim=keep)),
    "ReduceSum": _over_axes(lambda values, axes, keep: values.sum(axes, keepdim=keep)),
    "ReduceSumSquare": _over_axes(lambda values, axes, keep: values.square().sum(axes, keepdim=keep)),
}
"""By name."""

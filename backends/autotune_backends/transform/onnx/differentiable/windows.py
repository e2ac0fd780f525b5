"""What slides over an image: its size, steps and padding; and pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from autotune_backends.transform.onnx.differentiable.call import Call, Operator

__all__ = ["WINDOWS", "Window", "padded", "window_of"]


@dataclass(frozen=True)
class Window:
    """Per spatial axis. ``pads``: entries before and after."""

    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]


def window_of(call: Call, size: Sequence[int]) -> Window:
    """The window of a convolution or a pooling; ``auto_pad`` is resolved against the first input."""
    ones = [1] * len(size)
    strides, dilations = tuple(call.get("strides", ones)), tuple(call.get("dilations", ones))
    mode = call.get("auto_pad", "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        lengths = call[0].shape[2:]
        pads = tuple(
            _same(length, reach, step, gap, upper=mode == "SAME_UPPER")
            for length, reach, step, gap in zip(lengths, size, strides, dilations, strict=True)
        )
    else:
        flat = [0] * 2 * len(size) if mode == "VALID" else call.get("pads", [0] * 2 * len(size))
        pads = tuple(zip(flat[: len(size)], flat[len(size) :], strict=True))
    return Window(tuple(size), strides, dilations, pads)


def padded(call: Call, values: Any, window: Window, fill: float = 0.0) -> Any:
    """The values with the window's padding written out."""
    flat = list(chain.from_iterable(reversed(window.pads)))
    return call.functional.pad(values, flat, value=fill) if any(flat) else values


def _same(length: int, size: int, step: int, gap: int, *, upper: bool) -> tuple[int, int]:
    """As many entries as make the output ``ceil(length / step)`` long."""
    outputs = -(-length // step)
    total = max(0, (outputs - 1) * step + gap * (size - 1) + 1 - length)
    small, large = total // 2, total - total // 2
    return (small, large) if upper else (large, small)


def _max_pool(call: Call) -> Any:
    window = window_of(call, call.get("kernel_shape"))
    pool = getattr(call.functional, f"max_pool{len(window.size)}d")
    values = padded(call, call[0], window, float("-inf"))
    ceil = bool(call.get("ceil_mode", 0))
    return pool(values, window.size, window.strides, dilation=window.dilations, ceil_mode=ceil)


def _average_pool(call: Call) -> Any:
    """Padding counts only where ``count_include_pad`` says so: the mean of what is there is a ratio of two averages."""
    window = window_of(call, call.get("kernel_shape"))
    pool = getattr(call.functional, f"avg_pool{len(window.size)}d")
    means = pool(padded(call, call[0], window), window.size, window.strides)
    if call.get("count_include_pad", 0) or not any(chain.from_iterable(window.pads)):
        return means
    there = padded(call, call.torch.ones_like(call[0][:1, :1]), window)
    return means / pool(there, window.size, window.strides)


def _spatial(call: Call) -> list[int]:
    return list(range(2, call[0].ndim))


WINDOWS: Mapping[str, Operator] = {
    "AveragePool": _average_pool,
    "GlobalAveragePool": lambda call: call[0].mean(_spatial(call), keepdim=True),
    "GlobalMaxPool": lambda call: call[0].amax(_spatial(call), keepdim=True),
    "MaxPool": _max_pool,
}
"""By name."""

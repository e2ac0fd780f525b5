"""Two simulated values compared: the error that both have in common says nothing of which is larger."""

from __future__ import annotations

import math

from autotune.core.values import Value

__all__ = ["log_difference"]


def log_difference(a: Value, b: Value, *, paired: bool) -> tuple[float, float]:
    """The interval of ln(b / a), at the confidence of both intervals; both values are above 0.

    ``paired``: they are of one model on one device, so that the ``common`` share of their errors' variance moves them together,
    and only what it moves them differently remains of it. Errors that are independent are added in quadrature.
    """
    assert a.value is not None
    assert b.value is not None
    one, other = _half_width(a), _half_width(b)
    shared = min(a.common or 0.0, b.common or 0.0) if paired else 0.0
    half = math.hypot(math.sqrt(shared) * (one - other), math.sqrt(1 - shared) * math.hypot(one, other))
    difference = math.log(b.value / a.value)
    return difference - half, difference + half


def _half_width(value: Value) -> float:
    """Of the logarithm; 0 without an interval."""
    low, high = value.interval()
    return math.log(high / low) / 2 if 0 < low <= high else 0.0

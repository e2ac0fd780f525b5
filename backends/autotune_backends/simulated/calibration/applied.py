"""A correction, applied to simulated values."""

from __future__ import annotations

import math
from dataclasses import replace

from autotune.core.values import Value
from autotune_backends.simulated.calibration.correction import Belief, Correction

__all__ = ["calibrated_on", "corrected"]


def calibrated_on(count: int) -> str:
    """What is added to a value's basis."""
    return f", calibrated on {count} point{'s' if count > 1 else ''}" if count else ""


def corrected(name: str, value: Value, known: Correction, deviations: float) -> Value:
    """A value whose ends came from faster and slower steps, with what is known besides: of first tokens, of power.

    Independent errors: half-widths of logarithms are added in quadrature. ``deviations``: how many standard deviations an
    interval reaches. Values without an interval (a count, a price) stay as they are.
    """
    if value.value is None or value.low is None or value.high is None:
        return value
    besides = _besides(name, known)
    if besides is not None and value.low > 0:
        value = _widened(value, besides, deviations)
    return value.model_copy(update={"common": known.step.common})


def _besides(name: str, known: Correction) -> Belief | None:
    if name.startswith("ttft_p"):
        return known.first
    if name == "battery_life":
        return replace(known.power, mean=-known.power.mean)
    return known.power if name in ("power", "energy_per_token") else None


def _widened(value: Value, besides: Belief, deviations: float) -> Value:
    assert value.value is not None
    assert value.low is not None
    assert value.high is not None
    half = deviations * besides.sigma
    below = math.hypot(math.log(value.value / value.low), half)
    above = math.hypot(math.log(value.high / value.value), half)
    number = value.value * besides.factor
    return value.model_copy(
        update={"value": number, "low": number * math.exp(-below), "high": number * math.exp(above)}
    )

"""Numbers as people read them: three significant digits, people's units, ratios turned so that more is better."""

from __future__ import annotations

import math
from typing import Literal

from autotune.core.metrics import find_metric
from autotune.core.values import Value

__all__ = ["Certainty", "certainty", "format_interval", "format_number", "format_ratio", "format_value", "improvement"]

Certainty = Literal["better", "worse", "undecided"]

_EXACT = ("size",)  # metrics that are counted, not sampled: their ratio needs no interval


def format_number(number: float) -> str:
    """Write three significant digits: ``1.23``, ``12.3``, ``1230``; one more just below 1, so that 0.9996 is not 1.00."""
    if 0.9995 <= number < 1:
        return f"{number:.4f}" if number < 0.99995 else ">0.9999"
    if number == 0:
        return "0"
    rounded = float(f"{number:.3g}")
    if not 1e-4 <= abs(rounded) < 1e7:
        return f"{number:.2e}"
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{decimals}f}"


def format_value(name: str, value: Value, *, interval: bool = False) -> str:
    """Write a metric's value in the unit people read: ``"1.23 ms"``, with ``interval`` ``"1.23 ms (1.20–1.26)"``.

    An unknown value is ``"unknown"``. What was not measured says so: ``"0.80 mJ estimated"``.
    """
    metric = find_metric(name)
    if value.value is None:
        return "unknown"
    text = f"{format_number(value.value * metric.shown_factor)}{_unit(metric.shown_unit)}"
    ends = format_interval(value, metric.shown_factor) if interval else ""
    origin = "" if value.provenance == "measured" else f" {value.provenance}"
    return f"{text}{origin}{f' ({ends})' if ends else ''}"


def format_interval(value: Value, factor: float = 1.0) -> str:
    """Write ``"2.25–2.38"``, both ends times ``factor``; empty when there is no interval."""
    if value.low is None or value.high is None:
        return ""
    dash = " to " if value.low < 0 else "–"
    low, high = (format_number(end * factor).removeprefix(">") for end in (value.low, value.high))
    return f"{low}{dash}{high}"


def improvement(name: str, ratio: Value) -> Value:
    """Turn a ratio to the original so that more than 1 is better: 0.5 of the latency is 2.0 times as fast."""
    if find_metric(name).goal == "max" or ratio.value is None or ratio.value <= 0:
        return ratio
    low = 1 / ratio.high if ratio.high else None
    high = 1 / ratio.low if ratio.low else None
    return ratio.model_copy(update={"value": 1 / ratio.value, "low": low, "high": high})


def certainty(name: str, ratio: Value | None) -> Certainty:
    """Whether a ratio to the original shows a difference: its whole interval is on one side of 1.00.

    A sampled metric's ratio without an interval shows nothing; a simulated or counted one needs none.
    """
    if ratio is None or ratio.value is None:
        return "undecided"
    if (ratio.low is None or ratio.high is None) and ratio.provenance != "simulated" and name not in _EXACT:
        return "undecided"
    low, high = improvement(name, ratio).interval()
    if low > 1:
        return "better"
    return "worse" if high < 1 else "undecided"


def format_ratio(name: str, ratio: Value) -> str:
    """Write ``"2.31× (2.25–2.38)"``, more than 1 being better; empty when the ratio is unknown."""
    turned = improvement(name, ratio)
    if turned.value is None:
        return ""
    ends = format_interval(turned)
    return f"{format_number(turned.value)}×{f' ({ends})' if ends else ''}"


def _unit(unit: str) -> str:
    return unit if unit.startswith("/") or not unit else f" {unit}"

"""Two sessions that do not fit beside each other: the other one is measured before and after."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from autotune.core.values import Value
from autotune.measure.loads import Measured
from autotune.measure.served_values import log_half, served_ratios

__all__ = ["bracketed"]

_NOTE = "the original did not fit beside it into memory: measured before and after, what it moved by counts as doubt"


def bracketed(before: Measured, mine: Measured, after: Measured) -> Measured:
    """``mine`` with its ratios to the other session, whose value is taken midway between ``before`` and ``after``.

    Half of what the other moved by in between widens the interval: so far the machine may have been off meanwhile.
    """
    theirs = {
        name: _midway(value, after.metrics[name])
        for name, value in before.metrics.items()
        if value.value and name in after.metrics and after.metrics[name].value
    }
    around = (before, mine, after)
    return replace(
        mine,
        ratios=served_ratios(mine.metrics, theirs),
        theirs=theirs,
        steady=all(one.steady for one in around),
        disturbed_rounds=sum(one.disturbed_rounds for one in around),
        busy=any(one.busy for one in around),
        notes=(*mine.notes, _NOTE),
    )


def _midway(before: Value, after: Value) -> Value:
    """Both known and positive. Logarithms: times and rates are compared by ratios."""
    one, other = float(before.value or 0.0), float(after.value or 0.0)
    value = np.sqrt(one * other)
    half = np.hypot(log_half(before), log_half(after)) / 2 + abs(np.log(other / one)) / 2
    ends = {"low": float(value * np.exp(-half)), "high": float(value * np.exp(half))}
    return before.model_copy(update={"value": float(value), **ends, "basis": "midway between before and after"})

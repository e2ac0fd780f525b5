"""Whether a point that was measured again is known well enough, or would gain from a longer look."""

from __future__ import annotations

from autotune.core.plan import Plan
from autotune.core.trial import TrialRecord
from autotune.core.values import Value

__all__ = ["would_gain"]

_MUCH_LONGER = 1.5


def would_gain(record: TrialRecord, longer: Plan) -> bool:
    """Whether a paired measurement is in doubt (disturbed, or an interval wider than the plan asks for), and ``longer`` gives it
    at least half as much again of time.
    """
    measured = record.measurement
    if measured is None or longer.phase_limit_s < _MUCH_LONGER * record.trial.plan.phase_limit_s:
        return False
    wide = any(_half_width(ratio) > longer.precision for ratio in measured.ratios.values())
    return wide or measured.disturbed_rounds > 0


def _half_width(ratio: Value) -> float:
    """Relative; 0 where no interval is known, or where it is that of a model and no measurement narrows it."""
    if ratio.provenance != "measured" or not ratio.value or ratio.low is None or ratio.high is None:
        return 0.0
    return (ratio.high - ratio.low) / 2 / ratio.value

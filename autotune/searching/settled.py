"""Whether a point that was measured again is known well enough, or would gain from one more look."""

from __future__ import annotations

from autotune.core.plan import Plan
from autotune.core.trial import TrialRecord
from autotune.core.values import Value

__all__ = ["LEAST_LOOKS", "MOST_LOOKS", "would_gain"]

LEAST_LOOKS = 3  # one may be luck, and so may be how near two are to each other
MOST_LOOKS = 5

_AS_LONG = 0.5


def would_gain(record: TrialRecord, looks: int, plan: Plan) -> bool:
    """Whether a point gains from one more paired measurement by ``plan``, in fresh processes, after so many ``looks``.

    A few are needed to show how much processes differ. Later it gains while in doubt: disturbed, or an interval wider than
    the plan asks for. A look less than half as long as the one before tells less than it.
    """
    measured = record.measurement
    if measured is None or looks >= MOST_LOOKS or plan.phase_limit_s < _AS_LONG * record.trial.plan.phase_limit_s:
        return False
    wide = any(_half_width(ratio) > plan.precision for ratio in measured.ratios.values())
    return looks < LEAST_LOOKS or wide or measured.disturbed_rounds > 0


def _half_width(ratio: Value) -> float:
    """Relative; 0 where no interval is known, or where it is that of a model and no measurement narrows it."""
    if ratio.provenance != "measured" or not ratio.value or ratio.low is None or ratio.high is None:
        return 0.0
    return (ratio.high - ratio.low) / 2 / ratio.value

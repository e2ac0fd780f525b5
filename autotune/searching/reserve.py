"""What a search keeps back: time to measure the front again and to write the results."""

from __future__ import annotations

import math

from autotune.core.trial import TrialRecord
from autotune.searching.plans import Plans
from autotune.searching.settled import LEAST_LOOKS

__all__ = ["MOST_POINTS", "OVERRUN_S", "closing_s", "reserve_s"]

MOST_POINTS = 24  # at most so many are measured again
OVERRUN_S = 5.0  # past the budget, a paired trial still running is ended: the promise is the budget + 15 s
_SHARE_SHORT, _SHARE_LONG = 0.26, 0.12  # of a budget of 2 min, and of 1 h or more
_SHORT_S, _LONG_S = 120.0, 3600.0


def closing_s(total_s: float) -> float:
    """Seconds kept to write the front, tell trackers and export: 2 % of the budget, between 1 and 10."""
    return min(max(0.02 * total_s, 1.0), 10.0)


def reserve_s(total_s: float | None, plans: Plans, baseline: TrialRecord | None, points: int) -> float:
    """Seconds of the budget that search trials may not use, when the front has ``points`` points now.

    As much as a fresh baseline and three looks at the points need, but never more than a share of the budget: 26 % of two
    minutes, 12 % of an hour. 0 without a time budget.
    """
    if total_s is None:
        return 0.0
    if baseline is None:
        return closing_s(total_s)
    wanted = (LEAST_LOOKS * min(points, MOST_POINTS) + 1) * plans.wanted_pair_s(baseline)
    return min(wanted, _share(total_s) * total_s) + closing_s(total_s)


def _share(total_s: float) -> float:
    """Between the two shares by the logarithm of the budget."""
    position = math.log(min(max(total_s, _SHORT_S), _LONG_S) / _SHORT_S) / math.log(_LONG_S / _SHORT_S)
    return _SHARE_SHORT + position * (_SHARE_LONG - _SHARE_SHORT)

"""Whether a series has become steady: no trend left, whatever its noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["WINDOW", "drifts", "is_steady", "steady_enough", "trend"]

Series = NDArray[np.float64]

WINDOW = 8
_TOLERANCE = 0.02
_FEW = 3
_FEWEST_FOR_A_TREND = 5
_FEW_TOLERANCE = 0.05
_SIGNIFICANT = 1.96  # two-sided 5 % of a standard normal
_DRIFT_SIGNIFICANT = 2.58  # 1 %
_DRIFT_TOLERANCE = 0.05


def is_steady(series: Series) -> bool:
    """Whether the last ``WINDOW`` numbers (equal portions of warm-up, in time order) show no trend.

    A trend is one that Mann and Kendall's test finds at 5 % and that changes the value by more than 2 % over the window:
    a noisy or bimodal machine is steady when nothing rises or falls. (A fixed bound on the coefficient of variation, as in
    Georges et al., OOPSLA 2007, would never be met there.)
    """
    if len(series) < WINDOW:
        return False
    return _flat(series[-WINDOW:])


def steady_enough(series: Series) -> bool:
    """Whether a warm-up that ran out of time may still pass for steady: no trend in what there is of it.

    Fewer than five numbers cannot show a trend; of those, the last must not have fallen by more than 5 %.
    """
    if len(series) < _FEW:
        return False
    if len(series) < _FEWEST_FOR_A_TREND:
        return bool(series[-1] >= (1 - _FEW_TOLERANCE) * series[-2])
    return _flat(series[-WINDOW:])


def drifts(series: Series) -> bool:
    """Whether the measured rounds themselves moved: a trend found at 1 %, of more than 5 % from first to last."""
    if len(series) < WINDOW:
        return False
    score, change = trend(series)
    return abs(score) > _DRIFT_SIGNIFICANT and abs(change) > _DRIFT_TOLERANCE


def trend(series: Series) -> tuple[float, float]:
    """Return Mann and Kendall's standard score, and the relative change from first to last by Theil and Sen's slope.

    Mann, Econometrica 1945; Kendall, "Rank Correlation Methods", 1948; Sen, JASA 1968. Ties are not corrected for: they
    make the score smaller, so that less is called a trend.
    """
    count = len(series)
    earlier, later = np.triu_indices(count, k=1)
    differences = series[later] - series[earlier]
    total = float(np.sign(differences).sum())
    deviation = np.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    score = (total - np.sign(total)) / deviation
    slope = float(np.median(differences / (later - earlier)))
    return float(score), slope * (count - 1) / float(np.median(series))


def _flat(series: Series) -> bool:
    score, change = trend(series)
    return abs(score) <= _SIGNIFICANT or abs(change) <= _TOLERANCE

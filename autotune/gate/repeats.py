"""Evidence of what is found once an attempt and only as finely as it is searched for: the highest rate that holds its limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from autotune.core.values import Value
from autotune.gate.evidence import LEVEL, OfRatio, confirmed_without_any, loss_of
from autotune.measure.intervals import Interval
from autotune.measure.max_rate import RESOLUTION

__all__ = ["Repeats", "highest_rates"]

_GRAIN = RESOLUTION * math.sqrt(2 / 12)  # of two numbers, each spread evenly over a step of the search
_LEAST = 1e-3  # the ratio of a side of which no rate held


@dataclass(frozen=True)
class Repeats(OfRatio):
    """One ratio head / baseline an attempt.

    The interval is Student's over attempts, on a logarithmic scale, as if they were spread by ``grain`` at least: the same step
    of a search found twice is no certainty.
    """

    ratios: tuple[float, ...]
    grain: float = _GRAIN

    @cached_property
    def interval(self) -> Interval:
        """Of the loss; without ends from one attempt."""
        from scipy.special import stdtrit

        logs, count = np.log(self.ratios), len(self.ratios)
        middle = float(np.mean(logs))
        value = loss_of(math.exp(middle), self.goal)
        if count < 2:
            return Interval(value, None, None)
        spread = max(float(np.std(logs, ddof=1)), self.grain) / math.sqrt(count)
        reach = -float(stdtrit(count - 1, LEVEL)) * spread
        low, high = sorted(loss_of(math.exp(end), self.goal) for end in (middle - reach, middle + reach))
        return Interval(value, low, high)

    def confirmed(self, bound: float) -> bool:
        """Whichever attempt is left out, the mean of the others says so."""
        return confirmed_without_any(self.ratios, lambda rest: self._loss(rest) > bound)

    def _loss(self, ratios: Sequence[float]) -> float:
        return loss_of(float(np.exp(np.mean(np.log(ratios)))), self.goal)

    def stretch(self, alpha: float) -> float:
        """Student's t over attempts."""
        from scipy.special import stdtrit

        freedom = max(1, len(self.ratios) - 1)
        return float(stdtrit(freedom, alpha) / stdtrit(freedom, LEVEL))


def highest_rates(found: Sequence[tuple[Value | None, Value | None]]) -> Repeats | None:
    """From ``max_rate`` of both sides in each attempt; None when it was not looked for, or the baseline held no rate at all."""
    pairs = [(mine, theirs.value) for mine, theirs in found if mine is not None and theirs is not None]
    ratios = tuple(max((mine.value or 0.0) / theirs, _LEAST) for mine, theirs in pairs if theirs)
    return Repeats("max", ratios) if ratios else None

"""What is known of one metric's loss: how much worse the head is than the baseline, and how sure that is.

A loss is relative for metrics with a unit (0.05: latency 5 % longer, throughput 5 % less) and absolute for those of unit 1
(0.01: accuracy one point lower); below 0 the head is better. Each kind of evidence answers for itself what ``beyond`` and
``within`` mean, because what is certain differs: a series of ratios has an interval, a file's size has none and needs none.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from autotune.core.metrics import Goal
from autotune.measure.intervals import Interval, median_interval

__all__ = [
    "ATTEMPTS",
    "LEVEL",
    "ROUNDING",
    "Bounded",
    "Evidence",
    "OfRatio",
    "Paired",
    "Scored",
    "confirmed_without_any",
    "loss_of",
]

Series = NDArray[np.float64]
Attempt = TypeVar("Attempt")

_BALANCED = 2  # two neighbouring pairs, one in each order, are resampled together
LEVEL = 0.025  # of each end of a 95 % interval
ROUNDING = 1e-9
_LEAST_RATIO = 1e-9
_FEWEST_PAIRS = (
    8  # below, an interval is a guess: on a crowded machine, three pairs in a row may all be one side's bad luck
)
ATTEMPTS = 2  # a loss is believed when it was found in fresh processes again


class Evidence(Protocol):
    """Whether a loss is beyond a bound, within it, or neither is certain yet."""

    @property
    def final(self) -> bool:
        """Whether measuring longer would add nothing."""
        ...

    @property
    def interval(self) -> Interval:
        """The loss with its 95 % interval; ends None: there is none."""
        ...

    def beyond(self, bound: float, alpha: float) -> bool:
        """Whether the loss is certainly more than ``bound``, with an error of at most ``alpha``."""
        ...

    def within(self, bound: float, alpha: float) -> bool:
        """Whether it is certainly no more."""
        ...

    def confirmed(self, bound: float) -> bool:
        """Whether fresh processes agree that it is beyond ``bound``: two processes of one model may differ for good."""
        ...


def loss_of(ratio: float, goal: Goal) -> float:
    """The loss that a ratio head / baseline means."""
    return ratio - 1 if goal == "min" else 1 - ratio


def ratio_of(loss: float, goal: Goal) -> float:
    """The ratio head / baseline that means a loss, a very small one where an interval's end reaches nothing."""
    return max(1 + loss if goal == "min" else 1 - loss, _LEAST_RATIO)


class Bounded(ABC):
    """Evidence that is as certain as its interval: ``beyond`` when the low end is, ``within`` when the high end is."""

    final = False

    @property
    @abstractmethod
    def interval(self) -> Interval:
        """The loss with its 95 % interval."""

    @abstractmethod
    def confirmed(self, bound: float) -> bool:
        """Whether fresh processes agree."""

    def stretch(self, alpha: float) -> float:
        """How much farther than at 95 % each end lies at ``alpha``: a normal distribution's, unless one knows better."""
        from scipy.special import ndtri

        return float(ndtri(alpha) / ndtri(LEVEL))

    def beyond(self, bound: float, alpha: float) -> bool:
        """By the interval's low end at that level."""
        low = self.interval.low
        return low is not None and self._end(low, alpha) > bound

    def within(self, bound: float, alpha: float) -> bool:
        """By the interval's high end at that level."""
        high = self.interval.high
        return high is not None and self._end(high, alpha) < bound

    def _end(self, end: float, alpha: float) -> float:
        """Where an end of the 95 % interval lies at ``alpha``."""
        return stretched(self.interval.value, end, self.stretch(alpha))


@dataclass(frozen=True)
class OfRatio(Bounded):
    """A loss that is a ratio head / baseline. Its interval is stretched on the logarithmic scale.

    There a ratio's spread is about the same to both sides, and no certainty makes it reach below nothing: a head eight times
    as slow whose 95 % interval begins at 3 is slower still at any level that 8 and 3 leave room for.
    """

    goal: Goal

    def _end(self, end: float, alpha: float) -> float:
        middle, edge = (math.log(ratio_of(loss, self.goal)) for loss in (self.interval.value, end))
        return loss_of(math.exp(stretched(middle, edge, self.stretch(alpha))), self.goal)


@dataclass(frozen=True)
class Paired(OfRatio):
    """Ratios head / baseline pair by pair, one series an attempt, in time order.

    All attempts' pairs make one series. When attempts disagree by more than their pairs do, neighbours in it are alike, and
    its interval is stretched for that (see ``measure.intervals``).
    """

    attempts: tuple[Series, ...]

    @cached_property
    def interval(self) -> Interval:
        """By the median of all pairs."""
        ratio = median_interval(np.concatenate(self.attempts), block=_BALANCED)
        value = loss_of(ratio.value, self.goal)
        if ratio.low is None or ratio.high is None:
            return Interval(value, None, None)
        low, high = sorted(loss_of(end, self.goal) for end in (ratio.low, ratio.high))
        return Interval(value, low, high)

    def beyond(self, bound: float, alpha: float) -> bool:
        """As the interval says, if there are pairs enough."""
        return self._enough and super().beyond(bound, alpha)

    def within(self, bound: float, alpha: float) -> bool:
        """As the interval says, if there are pairs enough."""
        return self._enough and super().within(bound, alpha)

    def confirmed(self, bound: float) -> bool:
        """Whichever attempt is left out, the median of the others' pairs says so."""
        return confirmed_without_any(self.attempts, lambda rest: self._loss(rest) > bound)

    def _loss(self, attempts: Sequence[Series]) -> float:
        return loss_of(float(np.median(np.concatenate(attempts))), self.goal)

    def stretch(self, alpha: float) -> float:
        """Student's t with as many units as balanced pairs."""
        from scipy.special import stdtrit

        freedom = max(2.0, self._count / _BALANCED - 1)
        return float(stdtrit(freedom, alpha) / stdtrit(freedom, LEVEL))

    @property
    def _count(self) -> int:
        return sum(map(len, self.attempts))

    @property
    def _enough(self) -> bool:
        return self._count >= _FEWEST_PAIRS


@dataclass(frozen=True)
class Scored:
    """A loss of accuracy or fidelity on ``count`` samples that both sides answered; ``interval`` is paired where it can be.

    The samples are the standard that the tolerance speaks of, and on them the loss is exact: no more than the tolerance (or
    one sample, whichever is more) is within. A larger one fails only when it is no luck of these samples, its interval being
    clear of 0. (To ask that the interval be clear of the tolerance as well would need thousands of samples to pass, and would
    miss one drop of 2 points in four on 2,000 samples.)
    """

    interval: Interval
    count: int

    final = True

    def beyond(self, bound: float, alpha: float) -> bool:
        """More than tolerated on these samples, and certainly more than nothing."""
        from scipy.special import ndtri

        low, stretch = self.interval.low, float(ndtri(alpha) / ndtri(LEVEL))
        clear = low is not None and stretched(self.interval.value, low, stretch) > 0
        return clear and not self.within(bound, alpha)

    def within(self, bound: float, alpha: float) -> bool:  # noqa: ARG002
        """On these samples, no more than tolerated."""
        return self.interval.value <= max(bound, 1 / self.count) + ROUNDING

    def confirmed(self, bound: float) -> bool:  # noqa: ARG002
        """Outputs do not vary from process to process."""
        return True


def confirmed_without_any(attempts: Sequence[Attempt], says: Callable[[Sequence[Attempt]], bool]) -> bool:
    """Whether there are two attempts at least, and whichever one is left out, the others still ``says`` so.

    Of two, each has to say so alone. Of many, one pair of processes that differs neither makes a loss nor hides one.
    """
    rests = ([*attempts[:place], *attempts[place + 1 :]] for place in range(len(attempts)))
    return len(attempts) >= ATTEMPTS and all(says(rest) for rest in rests)


def stretched(middle: float, end: float, times: float) -> float:
    """The end of an interval ``times`` as wide."""
    return middle + times * (end - middle)

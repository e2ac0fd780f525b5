"""When to stop measuring, without spoiling the interval by having looked at it on the way."""

from __future__ import annotations

import math

from autotune.core.plan import Plan

__all__ = ["Looks", "spent_alpha"]

ALPHA = 0.05
_GROWTH = 1.35


def spent_alpha(share: float, alpha: float = ALPHA) -> float:
    """Return how much of ``alpha`` may be spent by the time ``share`` (0..1) of all rounds is in.

    The spending function of Lan and DeMets ("Discrete Sequential Boundaries for Clinical Trials", Biometrika 1983) that
    resembles Pocock's boundary: ``alpha ln(1 + (e - 1) share)``.
    """
    return alpha * math.log(1 + (math.e - 1) * min(1.0, share))


class Looks:
    """The planned looks at a growing series, and the error each may spend.

    Each look's interval is taken at a ``level`` of its own: what the spending function allows since the look before.
    The levels of all looks sum to ``ALPHA``, so whichever look ends the measurement, its interval misses the truth with a
    probability of at most ``ALPHA`` (a union bound: conservative, since looks are correlated).
    """

    def __init__(self, plan: Plan) -> None:
        self._counts = _look_counts(plan.min_rounds, plan.max_rounds)
        self._next: float = self._counts[0]
        self._spent = 0.0
        self.level = ALPHA
        """The level of the latest look's interval."""

    def due(self, count: int) -> bool:
        """Whether a planned look has not been taken by the time ``count`` rounds are in."""
        return count >= self._next

    def take(self, count: int) -> None:
        """Take the look after ``count`` rounds: set its ``level``."""
        self._spend(spent_alpha(count / self._counts[-1]))
        self._next = min((planned for planned in self._counts if planned > count), default=math.inf)

    def take_last(self) -> None:
        """Take the last look, earlier than planned: it may use all that is left, if any is."""
        if self._spent < ALPHA:
            self._spend(ALPHA)

    def _spend(self, total: float) -> None:
        self.level, self._spent = total - self._spent, total


def _look_counts(first: int, last: int) -> tuple[int, ...]:
    counts = [first]
    while counts[-1] < last:
        counts.append(min(last, math.ceil(counts[-1] * _GROWTH)))
    return tuple(counts)

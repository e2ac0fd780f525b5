"""Evidence without an interval: numbers that are what they are, one of a file or one a process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.core.metrics import Goal
from autotune.gate.evidence import ATTEMPTS, ROUNDING, loss_of
from autotune.measure.intervals import Interval

__all__ = ["Counted", "Peaks"]


@dataclass(frozen=True)
class Peaks:
    """One ratio head / baseline an attempt: peak memory. There is no interval; every attempt has to say the same."""

    goal: Goal
    ratios: tuple[float, ...]

    final = False

    @property
    def losses(self) -> Sequence[float]:
        """One an attempt."""
        return [loss_of(ratio, self.goal) for ratio in self.ratios]

    @property
    def interval(self) -> Interval:
        """The middle attempt, of two the lower; no ends."""
        return Interval(sorted(self.losses)[(len(self.ratios) - 1) // 2], None, None)

    def beyond(self, bound: float, alpha: float) -> bool:  # noqa: ARG002
        """Every attempt is."""
        return min(self.losses) > bound

    def within(self, bound: float, alpha: float) -> bool:  # noqa: ARG002
        """No attempt is beyond."""
        return max(self.losses) <= bound

    def confirmed(self, bound: float) -> bool:  # noqa: ARG002
        """There were two attempts."""
        return len(self.ratios) >= ATTEMPTS


@dataclass(frozen=True)
class Counted:
    """A loss without any doubt: a size, a simulated number."""

    loss: float

    final = True

    @property
    def interval(self) -> Interval:
        """Of no width."""
        return Interval(self.loss, self.loss, self.loss)

    def beyond(self, bound: float, alpha: float) -> bool:  # noqa: ARG002
        """By the number itself."""
        return self.loss > bound + ROUNDING

    def within(self, bound: float, alpha: float) -> bool:  # noqa: ARG002
        """By the number itself."""
        return self.loss <= bound + ROUNDING

    def confirmed(self, bound: float) -> bool:  # noqa: ARG002
        """Always."""
        return True

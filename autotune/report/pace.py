"""How much of a search is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from autotune.core.clock import Clock
from autotune.core.units import format_duration
from autotune.runs.search_file import SearchFile

__all__ = ["Pace"]


@dataclass(frozen=True)
class Pace:
    """``started_s`` is the clock's time at which nothing was spent yet. ``budget_s`` and ``max_trials`` None: no such bound."""

    clock: Clock
    started_s: float
    budget_s: float | None
    max_trials: int | None

    @classmethod
    def start(cls, search: SearchFile, spent_s: float, clock: Clock) -> Self:
        """Begin now, after ``spent_s`` seconds of earlier work."""
        return cls(clock, clock.now_s() - spent_s, search.budget_s, search.max_trials)

    def left(self, done: int) -> str:
        """``"1 min 05 s of 2 min 00 s left"``, and the trials where they are bounded; empty when nothing is."""
        parts = []
        spent = self.clock.now_s() - self.started_s
        if self.budget_s is not None:
            parts.append(f"{format_duration(max(0.0, self.budget_s - spent))} of {format_duration(self.budget_s)} left")
        if self.max_trials is not None:
            parts.append(f"{done} of {self.max_trials} trials{self._until_last(done, spent)}")
        return ", ".join(parts)

    def _until_last(self, done: int, spent: float) -> str:
        """How long the other trials would take at the pace so far."""
        if not done or self.max_trials is None or done >= self.max_trials:
            return ""
        return f", about {format_duration(spent / done * (self.max_trials - done))} more"

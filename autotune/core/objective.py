"""What a search optimises."""

from __future__ import annotations

from autotune.core.frozen import Frozen
from autotune.core.metrics import Goal, find_metric

__all__ = ["Objective", "objective"]


class Objective(Frozen):
    """A metric and which way is better."""

    metric: str
    goal: Goal

    def cost(self, value: float) -> float:
        """``value`` with its sign turned so that less is better."""
        return value if self.goal == "min" else -value


def objective(metric: str) -> Objective:
    """Return the objective for a metric's name. Raises ``UserError`` when there is no such metric."""
    return Objective(metric=metric, goal=find_metric(metric).goal)

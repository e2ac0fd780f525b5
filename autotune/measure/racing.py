"""Racing: a candidate that a point of the front certainly beats is not worth measuring further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotune.core.objective import Objective
from autotune.core.pareto import dominates
from autotune.core.values import Value

__all__ = ["certainly_dominated"]

Metrics = Mapping[str, Value]


def certainly_dominated(metrics: Metrics, objectives: Sequence[Objective], bar: Sequence[Metrics]) -> bool:
    """Whether some point of ``bar`` certainly beats a candidate whose metrics so far are ``metrics``.

    False while any objective is unknown on either side, or was sampled too little for an interval: nothing is certain then.
    ``bar``'s intervals are compared as they are; whoever makes it widens them by the drift between trials.
    """
    mine = _cost_intervals(metrics, objectives)
    if mine is None:
        return False
    others = (_cost_intervals(point, objectives) for point in bar)
    return any(other is not None and dominates(other, mine) for other in others)


def _cost_intervals(metrics: Metrics, objectives: Sequence[Objective]) -> list[tuple[float, float]] | None:
    """One (low, high) a objective, less is better; None when there are no objectives or one of them is uncertain."""
    intervals = []
    for objective in objectives:
        value = metrics.get(objective.metric)
        if value is None or not value.known or (value.low is None and _sampled(objective.metric)):
            return None
        first, second = (objective.cost(end) for end in value.interval())
        intervals.append((min(first, second), max(first, second)))
    return intervals or None


def _sampled(metric: str) -> bool:
    """Whether a metric varies from round to round, so that without an interval it says little."""
    return metric.startswith("latency_") or metric in {"throughput", "energy", "power"}

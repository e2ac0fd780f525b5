"""Racing: a candidate that a point of the front certainly beats is not worth measuring further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotune.core.objective import Objective
from autotune.core.pareto import CostRange, dominates
from autotune.core.values import Value

__all__ = ["certainly_dominated"]

Metrics = Mapping[str, Value]


def certainly_dominated(metrics: Metrics, objectives: Sequence[Objective], bar: Sequence[Metrics]) -> bool:
    """Whether some point of ``bar`` certainly beats (``core.pareto.dominates``) a candidate whose metrics so far are ``metrics``.

    False while any objective is unknown on either side, or was sampled too little for an interval: nothing is certain then.
    ``bar``'s intervals are compared as they are; whoever makes it widens them by the drift between trials.
    """
    mine = _costs(metrics, objectives)
    if mine is None:
        return False
    others = (_costs(point, objectives) for point in bar)
    return any(other is not None and dominates(other, mine) for other in others)


def _costs(metrics: Metrics, objectives: Sequence[Objective]) -> list[CostRange] | None:
    """One a objective; None when there are no objectives or one of them is uncertain."""
    found = [_cost(metrics.get(objective.metric), objective) for objective in objectives]
    known = [cost for cost in found if cost is not None]
    return known if known and len(known) == len(found) else None


def _cost(value: Value | None, objective: Objective) -> CostRange | None:
    if value is None or value.value is None or (value.low is None and _sampled(objective.metric)):
        return None
    low, high = sorted(objective.cost(end) for end in value.interval())
    return CostRange(low, objective.cost(value.value), high)


def _sampled(metric: str) -> bool:
    """Whether a metric varies from round to round, so that without an interval it says little."""
    return metric.startswith("latency_") or metric in {"throughput", "energy", "power"}

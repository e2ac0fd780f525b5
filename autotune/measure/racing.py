"""Racing: a candidate that a point of the front certainly beats is not worth measuring further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.core.objective import Objective
from autotune.core.pareto import dominates
from autotune.core.values import Value

__all__ = ["certainly_dominated"]

Metrics = Mapping[str, Value]


@dataclass(frozen=True)
class _Cost:
    """One objective of one point, less is better."""

    low: float
    value: float
    high: float


def certainly_dominated(metrics: Metrics, objectives: Sequence[Objective], bar: Sequence[Metrics]) -> bool:
    """Whether some point of ``bar`` certainly beats a candidate whose metrics so far are ``metrics``.

    It does when its interval is clear of the candidate's in one objective, and in no objective the candidate seems better: not
    by its value, nor by either end of its interval. (A candidate whose few rounds were scattered has a wide interval, whose
    upper end alone would let everything beat it.) So at worst an advantage within its own interval is given up.
    False while any objective is unknown on either side, or was sampled too little for an interval: nothing is certain then.
    ``bar``'s intervals are compared as they are; whoever makes it widens them by the drift between trials.
    """
    mine = _costs(metrics, objectives)
    if mine is None:
        return False
    others = (_costs(point, objectives) for point in bar)
    return any(other is not None and _certainly_beats(other, mine) for other in others)


def _certainly_beats(a: Sequence[_Cost], b: Sequence[_Cost]) -> bool:
    if any(mine.value < other.value or mine.low < other.low for other, mine in zip(a, b, strict=True)):
        return False
    return dominates([(cost.low, cost.high) for cost in a], [(cost.low, cost.high) for cost in b])


def _costs(metrics: Metrics, objectives: Sequence[Objective]) -> list[_Cost] | None:
    """One a objective; None when there are no objectives or one of them is uncertain."""
    found = [_cost(metrics.get(objective.metric), objective) for objective in objectives]
    known = [cost for cost in found if cost is not None]
    return known if known and len(known) == len(found) else None


def _cost(value: Value | None, objective: Objective) -> _Cost | None:
    if value is None or value.value is None or (value.low is None and _sampled(objective.metric)):
        return None
    low, high = sorted(objective.cost(end) for end in value.interval())
    return _Cost(low, objective.cost(value.value), high)


def _sampled(metric: str) -> bool:
    """Whether a metric varies from round to round, so that without an interval it says little."""
    return metric.startswith("latency_") or metric in {"throughput", "energy", "power"}

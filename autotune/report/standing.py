"""Where a search stands: how many trials ended how, and the best so far against the baseline. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.core.figures import format_number, format_value
from autotune.core.limits import Limit
from autotune.core.metrics import find_metric
from autotune.core.objective import Objective
from autotune.core.pareto import non_dominated
from autotune.core.trial import Failure, SameAs, TrialRecord

__all__ = ["Standing", "best_line", "standing"]


@dataclass(frozen=True)
class Standing:
    """``front`` holds the records that no other beats; search-time numbers, not yet measured side by side.

    ``baseline`` None: it has not been measured yet. ``failures`` counts by cause.
    """

    done: int
    baseline: TrialRecord | None
    front: tuple[TrialRecord, ...]
    failures: dict[str, int]
    same: int


def standing(records: Sequence[TrialRecord], objectives: Sequence[Objective], limits: Sequence[Limit]) -> Standing:
    """Take stock of the records so far."""
    failures = Counter(record.outcome.cause for record in records if isinstance(record.outcome, Failure))
    baselines = [record for record in records if record.trial.purpose == "baseline" and record.measurement]
    return Standing(
        done=len(records),
        baseline=baselines[0] if baselines else None,
        front=_front(records, objectives, limits),
        failures=dict(failures.most_common()),
        same=sum(isinstance(record.outcome, SameAs) for record in records),
    )


def best_line(now: Standing, objectives: Sequence[Objective]) -> str:
    """The best of each objective so far with its ratio to the baseline: ``"latency p50 1.23 ms (2.31×, t0007)"``."""
    parts = [text for objective in objectives if (text := _best(now, objective))]
    return ", ".join(parts) or "nothing measured yet"


def _front(
    records: Sequence[TrialRecord], objectives: Sequence[Objective], limits: Sequence[Limit]
) -> tuple[TrialRecord, ...]:
    usable = [
        record
        for record in records
        if all(_number(record, objective.metric) is not None for objective in objectives) and _feasible(record, limits)
    ]
    if not usable or not objectives:
        return ()
    costs = np.array(
        [[objective.cost(_number(record, objective.metric) or 0.0) for objective in objectives] for record in usable]
    )
    return tuple(record for record, kept in zip(usable, non_dominated(costs), strict=True) if kept)


def _best(now: Standing, objective: Objective) -> str:
    known = [record for record in now.front if _number(record, objective.metric) is not None]
    if not known:
        return ""
    best = min(known, key=lambda record: objective.cost(_number(record, objective.metric) or 0.0))
    assert best.measurement is not None
    name = objective.metric
    shown = format_value(name, best.measurement.metrics[name])
    times = _times_better(now, best, objective)
    return f"{find_metric(name).label} {shown} ({f'{times}, ' if times else ''}{best.trial.id})"


def _times_better(now: Standing, best: TrialRecord, objective: Objective) -> str:
    mine = _number(best, objective.metric)
    theirs = _number(now.baseline, objective.metric) if now.baseline is not None else None
    if not mine or not theirs or not find_metric(objective.metric).relative:
        return ""
    return f"{format_number(theirs / mine if objective.goal == 'min' else mine / theirs)}×"


def _feasible(record: TrialRecord, limits: Sequence[Limit]) -> bool:
    metrics = record.measurement.metrics if record.measurement else {}
    return all(limit.metric not in metrics or limit.standing(metrics[limit.metric]) != "broken" for limit in limits)


def _number(record: TrialRecord, metric: str) -> float | None:
    value = record.measurement.metrics.get(metric) if record.measurement else None
    return value.value if value is not None else None

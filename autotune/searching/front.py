"""The front of a search, assembled from its records alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from autotune.core.errors import NothingFeasible
from autotune.core.figures import format_value
from autotune.core.front import BASELINE_ID, Dropped, Front, Miss, Point
from autotune.core.limits import parse_limit
from autotune.core.metrics import find_metric
from autotune.core.pareto import knee
from autotune.core.trial import Failure, TrialRecord
from autotune.core.values import Value
from autotune.runs.search_file import SearchFile
from autotune.searching.axes import Axis
from autotune.searching.contenders import Contender
from autotune.searching.exact_ratios import simulated_ratios
from autotune.searching.feasibility import nearest_misses
from autotune.searching.found import Found, confirmed, found_by_searching, measured_again, names_of, place_of
from autotune.searching.spread import reaches, widened

__all__ = ["front_of", "refuse_nothing_feasible"]


def front_of(records: Sequence[TrialRecord], search: SearchFile) -> Front:
    """Assemble the front.

    When points were measured again, paired, only those are on it, and each other point that the search had found is
    dropped with the reason. Otherwise (the search was stopped, or no time was left) the search's own numbers are shown; a
    point other than the baseline without ratios is one of those.
    Raises ``AllTrialsFailed`` when the baseline was never measured.
    """
    found = found_by_searching(records, search)
    shown = confirmed(found, records, search)
    dropped = _nearly(found) if shown is None else _fallen(found, shown, records)
    return _assemble(records, search, shown or found, dropped)


def refuse_nothing_feasible(front: Front) -> None:
    """Raise ``NothingFeasible``, naming the nearest misses, when no point holds every limit."""
    if not front.points:
        near = "; ".join(f"{miss.id} misses {miss.limit} by {_shortfall(miss)}" for miss in front.misses[:3])
        raise NothingFeasible(
            f"no configuration holds every limit ({', '.join(front.limits)})",
            f"nearest: {near}" if near else "relax a limit, or search longer with --resume and a larger --budget",
        )


def _shortfall(miss: Miss) -> str:
    """By how much, in the unit that people read."""
    metric = find_metric(parse_limit(miss.limit).metric)
    return format_value(metric.name, Value(value=miss.by, unit=metric.unit))


def _assemble(records: Sequence[TrialRecord], search: SearchFile, shown: Found, dropped: tuple[Dropped, ...]) -> Front:
    reach, home = reaches(records), shown.baseline.measurement.metrics
    points = tuple(_point(one, reach, home) for one in shown.verdicts.kept)
    middle = _knee(shown)
    accuracy = shown.baseline.measurement.metrics.get("accuracy")
    return Front(
        search=search.id,
        kind=search.kind,
        quality="accuracy" if accuracy is not None and accuracy.known else "fidelity",
        objectives=shown.objectives,
        limits=search.limits,
        workload=search.workload,
        environment=search.environment,
        baseline=_point(shown.baseline, reach, home),
        points=points,
        knee=None if middle is None else points[middle].id,
        dropped=dropped,
        misses=nearest_misses([record for record in records if record.trial.purpose != "front"], search.context.limits),
        tried=sum(record.trial.purpose == "search" for record in records),
    )


def _fallen(found: Found, shown: Found, records: Sequence[TrialRecord]) -> tuple[Dropped, ...]:
    """Every point of the search's front, or measured again, that is not shown, and why."""
    again, names = measured_again(records), names_of(records)
    kept = {place_of(one.record) for one in (*shown.verdicts.kept, shown.baseline)}
    places = dict.fromkeys([*(place_of(one.record) for one in found.points), *again])
    return tuple(
        Dropped(id=names[place], reason=_why(names[place], again.get(place), shown))
        for place in places
        if place not in kept and place in names
    )


def _why(name: str, record: TrialRecord | None, shown: Found) -> str:
    if record is None:
        return "not measured again: no time was left for it"
    if isinstance(record.outcome, Failure):
        return f"failed when measured again: {record.outcome.message.partition(chr(10))[0]}"
    return "measured again: " + shown.verdicts.reasons.get(name, "an objective is unknown")


def _nearly(found: Found) -> tuple[Dropped, ...]:
    """Points that values alone would have put on the front, and intervals did not."""
    names = sorted({one.name for one in found.verdicts.close} - {BASELINE_ID})
    return tuple(Dropped(id=name, reason=found.verdicts.reasons[name]) for name in names)


def _point(one: Contender, reach: Mapping[str, float], home: Mapping[str, Value]) -> Point:
    """``home``: the baseline's metrics."""
    trial, metrics = one.record.trial, one.measurement.metrics
    ratios = one.measurement.ratios
    return Point(
        id=one.name,
        trial=trial.id,
        device=trial.device,
        candidate=trial.candidate,
        metrics=widened(metrics, reach),
        ratios=ratios or ({} if one.name == BASELINE_ID else simulated_ratios(metrics, home)),
        artifact=one.measurement.artifact,
    )


def _knee(shown: Found) -> int | None:
    kept = shown.verdicts.kept
    costs = np.array([one.costs for one in kept]).reshape(len(kept), len(shown.axes))
    return knee(costs, [_improvement(one, shown) for one in kept])


def _improvement(one: Contender, shown: Found) -> float:
    """Product over the objectives of how many times better than the baseline; what cannot be divided counts as 1."""
    return math.prod(_times_better(axis, one, shown.baseline) for axis in shown.axes)


def _times_better(axis: Axis, one: Contender, baseline: Contender) -> float:
    name = axis.objective.metric
    ratio = one.measurement.ratios.get(name)
    if axis.kind == "ratio" and ratio is not None and ratio.value:
        return ratio.value if axis.objective.goal == "max" else 1.0 / ratio.value
    value, reference = one.measurement.metrics[name].value, baseline.measurement.metrics[name].value
    if not value or not reference:
        return 1.0
    return value / reference if axis.objective.goal == "max" else reference / value

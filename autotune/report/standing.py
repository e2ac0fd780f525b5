"""Where a search stands: the best so far against the baseline, and what did not come off. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.figures import format_number, format_value
from autotune.core.metrics import find_metric
from autotune.core.objective import Objective
from autotune.core.trial import TrialRecord
from autotune.core.watching import Progress

__all__ = ["best_line", "front_line"]


def best_line(now: Progress, objectives: Sequence[Objective]) -> str:
    """The best of each objective so far with its ratio to the baseline: ``"latency p50 1.23 ms (2.31×, t0007)"``.

    Search-time numbers, not yet measured side by side.
    """
    parts = [text for objective in objectives if (text := _best(now, objective))]
    return ", ".join(parts) or "nothing measured yet"


def front_line(now: Progress) -> str:
    """``"3 on the front so far; failed: 2 unsupported; 1 were the same as another"``."""
    most_first = sorted(now.failures.items(), key=lambda entry: -entry[1])
    failed = ", ".join(f"{count} {cause}" for cause, count in most_first)
    same = f"; {now.same} were the same as another" if now.same else ""
    return f"{len(now.front)} on the front so far{f'; failed: {failed}' if failed else ''}{same}"


def _best(now: Progress, objective: Objective) -> str:
    known = [record for record in now.front if _number(record, objective.metric) is not None]
    if not known:
        return ""
    best = min(known, key=lambda record: objective.cost(_number(record, objective.metric) or 0.0))
    assert best.measurement is not None
    name = objective.metric
    shown = format_value(name, best.measurement.metrics[name])
    times = _times_better(now, best, objective)
    return f"{find_metric(name).label} {shown} ({f'{times}, ' if times else ''}{best.trial.id})"


def _times_better(now: Progress, best: TrialRecord, objective: Objective) -> str:
    mine = _number(best, objective.metric)
    theirs = _number(now.baseline, objective.metric) if now.baseline is not None else None
    if not mine or not theirs or not find_metric(objective.metric).relative:
        return ""
    return f"{format_number(theirs / mine if objective.goal == 'min' else mine / theirs)}×"


def _number(record: TrialRecord, metric: str) -> float | None:
    value = record.measurement.metrics.get(metric) if record.measurement else None
    return value.value if value is not None else None

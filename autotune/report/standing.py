"""Where a search stands: the front so far against the baseline, and what did not come off. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import wrap

from rich import box
from rich.table import Table
from rich.text import Text

from autotune.core.candidate import Candidate
from autotune.core.figures import format_number
from autotune.core.metrics import find_metric
from autotune.core.objective import Objective
from autotune.core.trial import TrialRecord
from autotune.core.watching import Progress
from autotune.report.answer import difference

__all__ = ["MOST_ROWS", "failures", "standing_table", "troubles"]

MOST_ROWS = 6
"""Points shown: with the other lines they fit a terminal of 24."""

_TITLE_COLUMNS = 15


def standing_table(
    now: Progress, objectives: Sequence[Objective], baseline: Candidate, *, several_devices: bool = False
) -> Table | None:
    """The original and the front so far, best first in the first objective, one line a point; None before the baseline.

    Numbers are the search's own, not yet measured side by side. A point's device is told when there are ``several_devices``.
    """
    if now.baseline is None:
        return None
    known = [goal for goal in objectives if _number(now.baseline, goal.metric) is not None]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("so far", overflow="ellipsis")
    for goal in known:
        table.add_column(Text(_title(goal.metric)), justify="right", no_wrap=True)
    table.add_row("the original", *(_cell(now, now.baseline, goal) for goal in known), end_section=True)
    rows = _ordered(now, known)[:MOST_ROWS]
    for record, name in zip(rows, _names(rows, baseline, several_devices), strict=True):
        table.add_row(Text(name, no_wrap=True, overflow="ellipsis"), *(_cell(now, record, goal) for goal in known))
    return table


def _names(rows: Sequence[TrialRecord], baseline: Candidate, several_devices: bool) -> list[str]:
    """Each row's id and differences, those first that fewest rows share: what tells it apart is not what is cut off."""
    parts = [difference(record.trial.candidate, baseline).split(" ") for record in rows]
    shared = Counter(part for own in parts for part in own)
    return [
        " ".join(
            [
                record.trial.id,
                *([record.trial.device] if several_devices else []),
                *sorted(own, key=lambda part: shared[part]),
            ]
        )
        for record, own in zip(rows, parts, strict=True)
    ]


def troubles(now: Progress) -> str:
    """``"3 on the front so far; failed: 2 unsupported; 1 were the same as another"``."""
    failed = failures(now)
    same = f"; {now.same} were the same as another" if now.same else ""
    hidden = len(_ordered(now, ())) - MOST_ROWS
    more = f" ({hidden} not shown)" if hidden > 0 else ""
    return f"{len(now.front)} on the front so far{more}{f'; {failed}' if failed else ''}{same}"


def failures(now: Progress) -> str:
    """``"failed: 2 unsupported, 1 timeout"``, the commonest cause first; empty when nothing failed."""
    most_first = sorted(now.failures.items(), key=lambda entry: -entry[1])
    return f"failed: {', '.join(f'{count} {cause}' for cause, count in most_first)}" if most_first else ""


def _ordered(now: Progress, objectives: Sequence[Objective]) -> list[TrialRecord]:
    """The front without the baseline."""
    tried = [record for record in now.front if record.trial.purpose != "baseline"]
    first = objectives[0] if objectives else None
    if first is None:
        return tried
    return sorted(tried, key=lambda record: first.cost(_number(record, first.metric) or 0.0))


def _title(name: str) -> str:
    """On as many lines as it needs to be no wider than what stands under it."""
    metric = find_metric(name)
    return "\n".join([*wrap(metric.label, _TITLE_COLUMNS), *([f"[{metric.shown_unit}]"] if metric.shown_unit else [])])


def _cell(now: Progress, record: TrialRecord, goal: Objective) -> str:
    number = _number(record, goal.metric)
    if number is None:
        return "unknown"
    text = format_number(number * find_metric(goal.metric).shown_factor)
    times = _times_better(now, record, goal) if record is not now.baseline else ""
    return f"{text} {times}" if times else text


def _times_better(now: Progress, record: TrialRecord, goal: Objective) -> str:
    mine, theirs = _number(record, goal.metric), _number(now.baseline, goal.metric) if now.baseline else None
    if not mine or not theirs or not find_metric(goal.metric).relative:
        return ""
    return f"{format_number(theirs / mine if goal.goal == 'min' else mine / theirs)}×"


def _number(record: TrialRecord, metric: str) -> float | None:
    value = record.measurement.metrics.get(metric) if record.measurement else None
    return value.value if value is not None else None

"""The front as text: JSON for scripts, Markdown for MLflow and GitHub, lines on what is not in it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from autotune.core.figures import format_ratio, format_value
from autotune.core.front import Front, Point
from autotune.core.limits import parse_limit
from autotune.core.metrics import find_metric
from autotune.core.values import Value
from autotune.report.answer import answer_sentence, describe
from autotune.report.shown_points import ShownPoint, shown_points

__all__ = ["SIMULATED_LEGEND", "dropped_lines", "front_json", "front_markdown", "miss_lines"]


def front_json(front: Front) -> str:
    """``front.json``'s content with the sentence under ``answer``: the one object that ``--json`` prints."""
    content = json.loads(front.to_json())
    return json.dumps({"answer": answer_sentence(front), **content}, ensure_ascii=False)


_MEASURED = "Ratios are to the original, measured side by side; more than 1 is better. Brackets hold 95 % intervals."
SIMULATED_LEGEND = (
    "All of it is simulated. Ratios are to the first device's usual configuration; more than 1 is better. "
    "Brackets hold what the known error of the figures allows."
)


def front_markdown(front: Front, links: Mapping[str, str] | None = None) -> str:
    """The answer and the front as a table. ``links`` maps a point's id to where it can be looked at."""
    metrics = [objective.metric for objective in front.objectives]
    heads = ["point", "parameters", *(find_metric(name).label for name in metrics)]
    rows = [_row(front, shown, metrics, links or {}) for shown in shown_points(front)]
    table = [_line(heads), _line(["---"] * len(heads)), *(_line(row) for row in rows)]
    notes = [f"- {line}" for line in (*dropped_lines(front), *miss_lines(front))]
    legend = SIMULATED_LEGEND if front.kind == "simulated" else _MEASURED
    return "\n".join([f"**{answer_sentence(front)}**", "", *table, "", legend, *([""] if notes else []), *notes, ""])


def dropped_lines(front: Front) -> list[str]:
    """One line for each point that looked like the front's and is not shown."""
    return [f"dropped {dropped.id}: {dropped.reason}" for dropped in front.dropped]


def miss_lines(front: Front) -> list[str]:
    """One line for each point that nearly held the limits: which it broke, by how much."""
    lines = []
    for miss in front.misses:
        metric = parse_limit(miss.limit).metric
        by = format_value(metric, Value(value=miss.by, unit=find_metric(metric).unit))
        lines.append(f"missed {miss.id}: breaks {miss.limit} by {by}")
    return lines


def _row(front: Front, shown: ShownPoint, metrics: list[str], links: Mapping[str, str]) -> list[str]:
    name = shown.point.id
    label = f"[{name}]({links[name]})" if name in links else name
    names = f" ({', '.join(shown.names)})" if shown.names else ""
    return [f"{label}{names}", f"`{describe(front, shown.point)}`", *(_cell(shown.point, metric) for metric in metrics)]


def _cell(point: Point, name: str) -> str:
    value = point.metrics.get(name)
    if value is None or not value.known:
        return "unknown"
    ratio = point.ratios.get(name) if find_metric(name).relative else None
    if ratio is None or not ratio.known:
        return format_value(name, value, interval=True)
    return f"{format_value(name, value)}, {format_ratio(name, ratio)}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

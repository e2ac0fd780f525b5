"""The parts of a front's numbers: speed by shape, fidelity by output."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from autotune.core.figures import format_number, format_value, improvement
from autotune.core.front import BASELINE_ID, Front, Point
from autotune.core.metrics import find_metric
from autotune.report.answer import recommended
from autotune.report.shown_points import shown_points

__all__ = ["output_lines", "shape_table"]

_MOST_OUTPUTS = 8


def output_lines(front: Front) -> list[str]:
    """How near each output of the recommended point is to the original's, one line each, the worst first.

    Empty when the model has one output, which the legend tells of, or when nothing is recommended.
    """
    point = recommended(front)
    fidelity = point.metrics.get("fidelity") if point is not None else None
    if point is None or fidelity is None or len(fidelity.parts) < 2:
        return []
    ordered = sorted(fidelity.parts.items(), key=lambda item: item[1].interval()[0] if item[1].known else 0.0)
    lines = [
        f"fidelity of {point.id}, output {name}: {format_value('fidelity', value, interval=True)}, {value.basis}"
        for name, value in ordered[:_MOST_OUTPUTS]
    ]
    hidden = len(ordered) - len(lines)
    return [*lines, f"{hidden} more outputs are no worse: --json lists them"] if hidden > 0 else lines


def shape_table(front: Front) -> Table | None:
    """One column for each shape of each objective that is known by shape; None when the load is of one shape."""
    columns = [
        (objective.metric, shape)
        for objective in front.objectives
        if objective.metric != "fidelity"
        for shape in _shapes(front.baseline, objective.metric)
    ]
    if not columns:
        return None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False, title="by shape")
    table.add_column("point", no_wrap=True)
    for name, shape in columns:
        metric = find_metric(name)
        table.add_column(Text(f"{metric.label} [{metric.shown_unit}]\n{shape}"), justify="right")
    for shown in shown_points(front):
        cells = [_cell(shown.point, name, shape) for name, shape in columns]
        table.add_row(shown.point.id, *cells, end_section=shown.point.id == BASELINE_ID)
    return table


def _shapes(point: Point, name: str) -> tuple[str, ...]:
    value = point.metrics.get(name)
    return tuple(value.parts) if value is not None else ()


def _cell(point: Point, name: str, shape: str) -> str:
    value, ratio = point.metrics.get(name), point.ratios.get(name)
    part = value.parts.get(shape) if value is not None else None
    if part is None or part.value is None:
        return "unknown"
    text = format_number(part.value * find_metric(name).shown_factor)
    turned = improvement(name, ratio.parts[shape]) if ratio is not None and shape in ratio.parts else None
    return f"{text}  {format_number(turned.value)}×" if turned is not None and turned.value is not None else text

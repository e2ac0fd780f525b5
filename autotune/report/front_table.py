"""The front on a terminal: fits 80 columns, and reads as well without colour."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autotune.core.figures import certainty, format_interval, format_number, improvement
from autotune.core.front import BASELINE_ID, Front, Point
from autotune.core.metrics import find_metric
from autotune.core.values import Value
from autotune.report.answer import answer_sentence, describe
from autotune.report.front_text import SIMULATED_LEGEND, dropped_lines, miss_lines
from autotune.report.parts_text import output_lines, shape_table
from autotune.report.shown_points import ShownPoint, shown_points

__all__ = ["front_table", "print_front"]

_STYLES = {"better": "green", "worse": "yellow", "undecided": ""}
_RATIOS = "× the original, measured side by side; more than 1 is better. "
_INTERVALS = "In brackets: 95 % intervals. ~ estimated."
_DROPPED_SHOWN = 4
_LABEL_COLUMNS, _CELL_COLUMNS = 14, 26  # what a point's name and a cell with ratio and interval on one line take


def print_front(front: Front, console: Console) -> None:
    """Print the answer, the table, what each point is, what was dropped and what nearly held the limits."""
    console.print(Text(answer_sentence(front), style="bold"))
    console.print(front_table(front, console.width))
    by_shape = shape_table(front)
    if by_shape is not None:
        console.print(by_shape)
    for shown in shown_points(front):
        console.print(Text(f"{shown.point.id}: {describe(front, shown.point)}"), soft_wrap=False)
    console.print(Text(_legend(front), style="dim"))
    for line in (*output_lines(front), *_hidden(front), *_few_dropped(front), *miss_lines(front)):
        console.print(Text(line, style="dim"))


def front_table(front: Front, width: int = 80) -> Table:
    """One row a point, the baseline first; one column an objective. ``width``: columns of the terminal."""
    wide = width >= _LABEL_COLUMNS + _CELL_COLUMNS * len(front.objectives)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("point", no_wrap=True)
    metrics = [objective.metric for objective in front.objectives]
    for name in metrics:
        metric = find_metric(name)
        unit = f" [{metric.shown_unit}]" if metric.shown_unit else ""
        table.add_column(Text(f"{metric.label}{unit}"), justify="right")
    for shown in shown_points(front):
        table.add_row(
            _label(shown), *(_cell(shown.point, name, wide=wide) for name in metrics), end_section=_first(shown)
        )
    return table


def _first(shown: ShownPoint) -> bool:
    return shown.point.id == BASELINE_ID


def _label(shown: ShownPoint) -> Text:
    text = Text(shown.point.id, style="bold" if shown.names else "")
    return text.append("\n" + "\n".join(shown.names), style="dim") if shown.names else text


def _cell(point: Point, name: str, *, wide: bool) -> Text:
    """The value with its ratio, and below it the ratio's interval (the value's own where there is no ratio)."""
    metric, value = find_metric(name), point.metrics.get(name)
    if value is None or value.value is None:
        return Text("unknown", style="dim")
    text = Text(_number(value, metric.shown_factor))
    ratio = point.ratios.get(name) if metric.relative else None
    if ratio is None or ratio.value is None:
        ends = format_interval(value, metric.shown_factor)
        return text.append(f"\n({ends})", style="dim") if ends else text
    turned = improvement(name, ratio)
    text.append(f"  {format_number(turned.value or 0.0)}×", style=_STYLES[certainty(name, ratio)])
    ends = format_interval(turned)
    separator = " " if wide else "\n"
    return text.append(f"{separator}({ends})", style="dim") if ends else text


def _number(value: Value, factor: float) -> str:
    assert value.value is not None
    return f"{'~' if value.provenance == 'estimated' else ''}{format_number(value.value * factor)}"


def _legend(front: Front) -> str:
    if front.kind == "simulated":
        return SIMULATED_LEGEND
    quality = front.baseline.metrics.get(front.quality)
    taken = f" {front.quality.capitalize()}: {quality.basis}." if quality is not None and quality.basis else ""
    ratios = _RATIOS if any(point.ratios for point in front.points) else ""
    return f"{ratios}{_INTERVALS}{taken}"


def _hidden(front: Front) -> list[str]:
    shown = {entry.point.id for entry in shown_points(front)}
    hidden = [point for point in front.points if point.id not in shown]
    return [f"{len(hidden)} more points are on the front: --json lists them"] if hidden else []


def _few_dropped(front: Front) -> list[str]:
    """The first of them, and how many more: the next step is below."""
    lines = dropped_lines(front)
    rest = len(lines) - _DROPPED_SHOWN
    if rest <= 1:
        return lines
    return [*lines[:_DROPPED_SHOWN], f"dropped {rest} more likewise: --json lists them"]

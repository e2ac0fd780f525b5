"""A picture of a front: two objectives, intervals, the baseline marked."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune.core.front import BASELINE_ID, Front, Point
from autotune.core.metrics import find_metric
from autotune.core.naming import names_of

__all__ = ["FrontPlot", "front_plot", "plot_front"]

_SIZE_INCHES = (8.0, 5.0)
_DPI = 120


@dataclass(frozen=True)
class FrontPlot:
    """A drawn front. A notebook shows it by itself; ``figure`` is matplotlib's, for whoever wants to change it."""

    figure: Any

    def save(self, file: str | Path) -> None:
        """Write a PNG."""
        self.figure.savefig(file, format="png")

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.figure.savefig(stream, format="png")
        return stream.getvalue()


def plot_front(front: Front, file: Path, x: str | None = None, y: str | None = None) -> None:
    """Write a PNG of ``front_plot``."""
    front_plot(front, x, y).save(file)


def front_plot(front: Front, x: str | None = None, y: str | None = None) -> FrontPlot:
    """Draw. ``x`` and ``y`` are metrics, None: latency (else the first objective), and quality (else the second).

    Points that lack either metric are left out.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across, up = x or _default(front, ("latency_p50", "throughput")), y or _default(front, (front.quality, "energy"))
    figure = Figure(figsize=_SIZE_INCHES, dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    _draw(axes, _known(front.points, across, up), across, up, marker="o", label="front")
    _draw(axes, _known([front.baseline], across, up), across, up, marker="*", label="the original")
    for point in _known(front.points, across, up):
        _name(axes, front, point, across, up)
    axes.set_xlabel(_axis(front, across))
    axes.set_ylabel(_axis(front, up))
    axes.set_title(f"{front.search}: 95 % intervals")
    axes.margins(x=0.15, y=0.1)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    return FrontPlot(figure)


def _default(front: Front, preferred: Sequence[str]) -> str:
    metrics = [objective.metric for objective in front.objectives]
    found = next((name for name in preferred if name in metrics), None)
    return found or (metrics[0] if preferred[0].startswith("latency") else metrics[-1])


def _known(points: Sequence[Point], *names: str) -> list[Point]:
    return [
        point
        for point in points
        if all((value := point.metrics.get(name)) is not None and value.known for name in names)
    ]


def _draw(axes: Any, points: Sequence[Point], across: str, up: str, *, marker: str, label: str) -> None:
    xs, x_errors = _coordinates(points, across)
    ys, y_errors = _coordinates(points, up)
    size = 14 if marker == "*" else 6
    axes.errorbar(
        xs, ys, xerr=x_errors, yerr=y_errors, fmt=marker, markersize=size, linewidth=1, capsize=2, label=label, zorder=3
    )


def _coordinates(points: Sequence[Point], name: str) -> tuple[list[float], list[list[float]]]:
    """Values, and how far the intervals reach below and above them, in the unit people read."""
    factor = find_metric(name).shown_factor
    values = [point.metrics[name].value or 0.0 for point in points]
    ends = [point.metrics[name].interval() for point in points]
    below = [max(0.0, value - low) * factor for value, (low, _) in zip(values, ends, strict=True)]
    above = [max(0.0, high - value) * factor for value, (_, high) in zip(values, ends, strict=True)]
    return [value * factor for value in values], [below, above]


def _name(axes: Any, front: Front, point: Point, across: str, up: str) -> None:
    if point.id == BASELINE_ID:
        return
    at = tuple((point.metrics[name].value or 0.0) * find_metric(name).shown_factor for name in (across, up))
    text = ", ".join([point.id, *names_of(front, point)])
    axes.annotate(text, at, xytext=(6, 6), textcoords="offset points", fontsize=8)


def _axis(front: Front, name: str) -> str:
    metric = find_metric(name)
    value = front.baseline.metrics.get(name)
    origin = f", {value.provenance}" if value is not None and value.provenance != "measured" else ""
    return f"{metric.label}{f' [{metric.shown_unit}]' if metric.shown_unit else ''}{origin}"

"""What the report's script draws: every point as plain data, numbers in the units people read. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autotune.core.candidate import Candidate
from autotune.core.errors import UserError
from autotune.core.figures import certainty, format_ratio, format_value
from autotune.core.front import BASELINE_ID, Point
from autotune.core.metrics import Metric, find_metric
from autotune.core.naming import names_of
from autotune.core.trial import TrialRecord
from autotune.core.values import Value
from autotune.report.going_on import export_command
from autotune.report.html.content import ReportContent

__all__ = ["charted", "known_metric"]

_ABSENT = "–"


def charted(content: ReportContent) -> dict[str, Any]:
    """Return ``{metrics, objectives, parameters, points, baseline, recommended}`` as JSON takes it.

    Points of the front and the baseline come with ratios and the command that exports them, the other trials without.
    """
    front = content.front
    shown = [_point(content, point) for point in _unique([front.baseline, *front.points])]
    taken = {(entry["device"], entry["key"]) for entry in shown}
    tried = [_tried(record) for record in content.records if record.measurement and record.trial.purpose == "search"]
    points = shown + [entry for entry in tried if (entry["device"], entry["key"]) not in taken]
    return {
        "metrics": _metrics(points),
        "objectives": [objective.metric for objective in front.objectives],
        "parameters": _varied(points, front.baseline.candidate),
        "points": points,
        "baseline": BASELINE_ID,
    }


def known_metric(name: str) -> Metric | None:
    """The metric of that name; None when this version does not know it."""
    try:
        return find_metric(name)
    except UserError:
        return None


def _unique(points: Iterable[Point]) -> list[Point]:
    return list({point.id: point for point in points}.values())


def _point(content: ReportContent, point: Point) -> dict[str, Any]:
    on_front = any(other.id == point.id for other in content.front.points)
    kind = "baseline" if point.id == BASELINE_ID else "front"
    names = [name for name in names_of(content.front, point) if name != point.id]
    return {
        "id": point.id,
        "kind": kind,
        "onFront": on_front,
        "names": names,
        "device": point.device,
        "key": point.candidate.text,
        "candidate": _texts(point.candidate),
        "values": _values(point.metrics, point.ratios),
        "export": export_command(content.front, content.run, point),
    }


def _tried(record: TrialRecord) -> dict[str, Any]:
    assert record.measurement is not None
    return {
        "id": record.trial.id,
        "kind": "tried",
        "onFront": False,
        "names": ["stopped early"] if record.measurement.stopped == "dominated" else [],
        "device": record.trial.device,
        "key": record.trial.candidate.text,
        "candidate": _texts(record.trial.candidate),
        "values": _values(record.measurement.metrics, {}),
        "export": None,
    }


def _values(metrics: Mapping[str, Value], ratios: Mapping[str, Value]) -> dict[str, Any]:
    return {
        name: _value(name, metric, value, ratios.get(name))
        for name, value in metrics.items()
        if value.known and (metric := known_metric(name)) is not None
    }


def _value(name: str, metric: Metric, value: Value, ratio: Value | None) -> dict[str, Any]:
    """A number three times: to draw, to read with its interval, and as a ratio to the original (null: none)."""
    low, high = value.interval()
    relative = ratio if ratio is not None and ratio.known and metric.relative else None
    return {
        "at": (value.value or 0.0) * metric.shown_factor,
        "low": low * metric.shown_factor,
        "high": high * metric.shown_factor,
        "text": format_value(name, value, interval=True),
        "basis": value.basis or "",
        "ratio": format_ratio(name, relative) if relative is not None else None,
        "verdict": certainty(name, relative),
    }


def _metrics(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = dict.fromkeys(name for point in points for name in point["values"])
    return {name: _axis(find_metric(name)) for name in names}


def _axis(metric: Metric) -> dict[str, Any]:
    return {"label": metric.label, "unit": metric.shown_unit, "goal": metric.goal}


def _varied(points: Sequence[Mapping[str, Any]], baseline: Candidate) -> list[str]:
    """Parameters that took more than one value, in the space's order."""
    names = dict.fromkeys([*baseline, *(name for point in points for name in point["candidate"])])
    return [name for name in names if len({point["candidate"].get(name, _ABSENT) for point in points}) > 1]


def _texts(candidate: Candidate) -> dict[str, str]:
    return {name: str(value) for name, value in candidate.items()}

"""The answer of a graph's search on simulated devices, in a sentence: which device, in which configuration, what is unknown."""

from __future__ import annotations

from autotune.core.figures import format_value
from autotune.core.front import BASELINE_ID, Front, Point
from autotune.core.metrics import find_metric

__all__ = ["graph_choice", "graph_sentence", "is_graph"]


def is_graph(front: Front) -> bool:
    """Whether a graph was priced: its load has no requests of tokens."""
    return front.kind == "simulated" and front.workload.serving is None


def graph_choice(front: Front) -> Point | None:
    """The knee, else the first point; None when nothing is on the front."""
    knee = next((point for point in front.points if point.id == front.knee), None)
    return knee or next(iter(front.points), None)


def graph_sentence(front: Front) -> str | None:
    """What to take; None when it is no graph's front, or an empty one."""
    point = graph_choice(front) if is_graph(front) else None
    if point is None:
        return None
    others = [one for one in front.points if one.device != point.device]
    runner = f" Runner-up on another device: {_told(front, others[0])}." if others else ""
    return (
        f"Use {_told(front, point)}; simulated, not measured, and what its format loses in quality is unknown.{runner}"
    )


def _told(front: Front, point: Point) -> str:
    values = " ".join(f"{name}={value}" for name, value in point.candidate.items() if name != "runtime")
    name = "" if point.id == BASELINE_ID else f"{point.id}, "
    return f"{name}{point.device} with {values}: {', '.join(_figures(front, point))}"


def _figures(front: Front, point: Point) -> list[str]:
    known = ((one.metric, point.metrics.get(one.metric)) for one in front.objectives)
    return [
        f"{find_metric(name).label} {format_value(name, value, interval=True)}"
        for name, value in known
        if value is not None and value.known
    ]

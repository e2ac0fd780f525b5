"""Which points a person is shown, in which order, under which names."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.core.front import BASELINE_ID, Front, Point
from autotune.core.naming import named_points

__all__ = ["MAX_POINTS", "ShownPoint", "shown_points"]

MAX_POINTS = 12


@dataclass(frozen=True)
class ShownPoint:
    """A point and the names that it goes by besides its id."""

    point: Point
    names: tuple[str, ...]


def shown_points(front: Front, limit: int = MAX_POINTS) -> list[ShownPoint]:
    """The baseline, the named points, then the rest of the front by latency; at most ``limit``."""
    named = named_points(front)
    ordered = [front.baseline, *named.values(), *sorted(front.points, key=_latency)]
    unique = list({point.id: point for point in ordered}.values())[:limit]
    return [ShownPoint(point, _names(named, point)) for point in unique]


def _names(named: dict[str, Point], point: Point) -> tuple[str, ...]:
    return tuple(name for name, other in named.items() if other.id == point.id and name != BASELINE_ID)


def _latency(point: Point) -> float:
    value = point.metrics.get("latency_p50")
    return value.value if value is not None and value.value is not None else float("inf")

"""The names that points of a front go by: fastest, frugal, accurate, knee, baseline."""

from __future__ import annotations

from collections.abc import Callable

from autotune.core.figures import improvement
from autotune.core.front import BASELINE_ID, Front, Point
from autotune.core.metrics import find_metric

__all__ = ["NAMES", "best_of", "candidates", "named_points", "names_of"]

NAMES = ("knee", "fastest", "frugal", "accurate", BASELINE_ID)

_SPEED = ("latency_p50", "throughput", "output_throughput", "ttft_p50")
_ENERGY = ("energy", "energy_per_token", "power")


def candidates(front: Front) -> tuple[Point, ...]:
    """The points that a name may stand for: the front's, or the baseline alone when the front is empty."""
    return front.points or (front.baseline,)


def best_of(front: Front, metric: str) -> Point | None:
    """The point with the best ``metric``: by its paired ratio where every point has one, else by its value.

    None when no point has that metric. Raises ``UserError`` when there is no such metric.
    """
    goal = find_metric(metric)
    known = [point for point in candidates(front) if metric in point.metrics and point.metrics[metric].known]
    if not known:
        return None
    paired = goal.relative and all(_ratio(point, metric) is not None for point in known)
    if paired:
        return max(known, key=lambda point: _ratio(point, metric) or 0.0)
    sign = 1.0 if goal.goal == "max" else -1.0
    return max(known, key=lambda point: sign * (point.metrics[metric].value or 0.0))


def named_points(front: Front) -> dict[str, Point]:
    """Each name that stands for a point of this front, in the order of ``NAMES``."""
    finders: dict[str, Callable[[], Point | None]] = {
        "knee": lambda: front.point(front.knee) if front.knee else None,
        "fastest": lambda: _first(front, _SPEED),
        "frugal": lambda: _first(front, _ENERGY),
        "accurate": lambda: _first(front, (front.quality,)),
        BASELINE_ID: lambda: front.baseline,
    }
    found = {name: finders[name]() for name in NAMES}
    return {name: point for name, point in found.items() if point is not None}


def names_of(front: Front, point: Point) -> tuple[str, ...]:
    """The names that stand for ``point``."""
    return tuple(name for name, named in named_points(front).items() if named.id == point.id)


def _first(front: Front, metrics: tuple[str, ...]) -> Point | None:
    found = (best_of(front, metric) for metric in metrics)
    return next((point for point in found if point is not None), None)


def _ratio(point: Point, metric: str) -> float | None:
    """How many times better than the baseline; the baseline itself is 1."""
    if point.id == BASELINE_ID:
        return 1.0
    ratio = point.ratios.get(metric)
    return improvement(metric, ratio).value if ratio is not None else None

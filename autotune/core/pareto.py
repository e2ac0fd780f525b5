"""Pure functions on points of an objective space, every objective a cost (less is better)."""

from __future__ import annotations

from collections.abc import Sequence
from operator import le
from typing import NamedTuple

import numpy as np
from moocore import is_nondominated
from numpy.typing import NDArray

__all__ = ["CostRange", "dominates", "knee", "non_dominated"]

Costs = NDArray[np.float64]


class CostRange(NamedTuple):
    """A point's cost in one objective (less is better) with its interval: ``low`` <= ``value`` <= ``high``."""

    low: float
    value: float
    high: float


def non_dominated(costs: Costs) -> NDArray[np.bool_]:
    """Return a mask, shape ``[points]``, of the rows of ``costs`` (``[points, objectives]``) that no other row beats.

    Rows equal to a kept one are kept too.
    """
    if costs.shape[0] == 0:
        return np.zeros(0, dtype=bool)
    return np.asarray(is_nondominated(np.asarray(costs, dtype=np.float64), keep_weakly=True), dtype=bool)


def dominates(a: Sequence[CostRange], b: Sequence[CostRange]) -> bool:
    """Whether ``a`` certainly beats ``b``: each is one cost an objective.

    It does when it is certainly better somewhere (its high end below ``b``'s low end), and ``b`` seems better nowhere: not by
    its value, nor by either end of its interval. (A high end alone says little: a point whose few rounds were scattered has
    a wide interval, and everything would beat it.) So at worst ``b`` has an advantage that lies within its own interval.
    A strict partial order: no point beats itself, no two beat each other, and what beats a beater beats the beaten.
    """
    nowhere_worse = all(all(map(le, mine, theirs)) for mine, theirs in zip(a, b, strict=True))
    somewhere_better = any(mine.high < theirs.low for mine, theirs in zip(a, b, strict=True))
    return nowhere_worse and somewhere_better


def knee(costs: Costs, ratios: Sequence[float]) -> int | None:
    """Return the row of the knee, None when there are no rows.

    It is the point farthest (on the good side) from the hyperplane through the front's extremes, with objectives scaled to
    [0, 1]. With fewer than three points, or extremes that span no hyperplane, it is the point with the best ``ratios``:
    one number a row, the product of its improvements over the baseline (more is better).
    """
    count = costs.shape[0]
    if count == 0:
        return None
    if count >= 3:
        span = np.ptp(costs, axis=0)
        varied = costs[:, span > 0]
        scaled = (varied - varied.min(axis=0)) / np.ptp(varied, axis=0) if varied.shape[1] else varied
        normal = _normal(scaled)
        if normal is not None:
            return int(np.argmin(scaled @ normal))
    return int(np.argmax(np.asarray(ratios)))


def _normal(scaled: Costs) -> Costs | None:
    """Normal, pointing to worse, of the hyperplane through the best point of each objective; None when there is none."""
    dimensions = scaled.shape[1]
    if dimensions < 2:
        return None
    extremes = scaled[np.argmin(scaled, axis=0)]
    if np.linalg.matrix_rank(extremes[1:] - extremes[0]) < dimensions - 1:
        return None
    try:
        normal = np.linalg.solve(extremes, np.ones(dimensions))
    except np.linalg.LinAlgError:
        return None
    return normal / np.linalg.norm(normal) if np.all(normal > 0) else None

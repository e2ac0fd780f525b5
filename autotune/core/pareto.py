"""Pure functions on points of an objective space, every objective a cost (less is better)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from moocore import is_nondominated
from numpy.typing import NDArray

__all__ = ["dominates", "knee", "non_dominated"]

Costs = NDArray[np.float64]


def non_dominated(costs: Costs) -> NDArray[np.bool_]:
    """Return a mask, shape ``[points]``, of the rows of ``costs`` (``[points, objectives]``) that no other row beats.

    Rows equal to a kept one are kept too.
    """
    if costs.shape[0] == 0:
        return np.zeros(0, dtype=bool)
    return np.asarray(is_nondominated(np.asarray(costs, dtype=np.float64), keep_weakly=True), dtype=bool)


def dominates(a: Sequence[tuple[float, float]], b: Sequence[tuple[float, float]]) -> bool:
    """Whether ``a`` certainly beats ``b``: each is one cost interval (low, high) per objective.

    True when ``a`` is nowhere certainly worse (its high end is at or below ``b``'s high end) and somewhere certainly better
    (its high end below ``b``'s low end).
    """
    nowhere_worse = all(high_a <= high_b for (_, high_a), (_, high_b) in zip(a, b, strict=True))
    somewhere_better = any(high_a < low_b for (_, high_a), (low_b, _) in zip(a, b, strict=True))
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

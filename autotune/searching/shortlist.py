"""Which points of the front are measured again first, when not all can be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from autotune.core.pareto import knee
from autotune.searching.contenders import Contender

__all__ = ["by_importance"]


def by_importance(contenders: Sequence[Contender]) -> list[Contender]:
    """Order points of a front: the best of each objective, the knee, then by the hypervolume that only they add."""
    if len(contenders) < 2:
        return list(contenders)
    costs = np.array([one.costs for one in contenders])
    scaled = _scaled(costs)
    first = [int(index) for index in np.argmin(costs, axis=0)]
    middle = knee(costs, [-float(row.sum()) for row in scaled])
    rest = [int(index) for index in np.argsort(-_contributions(scaled), kind="stable")]
    order = dict.fromkeys([*first, *([] if middle is None else [middle]), *rest])
    return [contenders[index] for index in order]


def _scaled(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """To 0 (best) … 1 (worst) per objective; 0 where all are equal."""
    span = np.ptp(costs, axis=0)
    scaled: NDArray[np.float64] = (costs - costs.min(axis=0)) / np.where(span > 0, span, 1.0)
    return scaled


def _contributions(scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    from moocore import hv_contributions

    return np.asarray(hv_contributions(scaled, ref=np.full(scaled.shape[1], 1.1)), dtype=np.float64)

"""Quality in two stages: a part of the samples first, all of them only where it may matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from autotune.core.limits import Limit
from autotune.core.values import Value

__all__ = ["FIRST_STAGE", "first_stage", "needs_all"]

FIRST_STAGE = 200


def first_stage(indices: Sequence[int], seed: int = 0) -> tuple[int, ...]:
    """Return at most 200 of ``indices``, the same ones for the same seed, in their order: the samples to begin with."""
    if len(indices) <= FIRST_STAGE:
        return tuple(indices)
    picked = np.random.default_rng(seed).choice(len(indices), FIRST_STAGE, replace=False)
    return tuple(indices[position] for position in np.sort(picked))


def needs_all(first: Mapping[str, Value], limits: Sequence[Limit]) -> bool:
    """Whether the other samples are worth running: not when the first already break a limit for certain."""
    return not any(limit.metric in first and limit.standing(first[limit.metric]) == "broken" for limit in limits)

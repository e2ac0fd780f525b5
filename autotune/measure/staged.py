"""Quality in two stages: a part of the samples first, all of them only where it may matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from autotune.core.limits import Limit
from autotune.core.metrics import find_metric
from autotune.core.objective import Objective
from autotune.core.values import Value
from autotune.measure.racing import certainly_dominated

__all__ = ["FIRST_STAGE", "at_best", "first_stage", "needs_all"]

FIRST_STAGE = 200

Metrics = Mapping[str, Value]


def first_stage(indices: Sequence[int], seed: int = 0) -> tuple[int, ...]:
    """Return at most 200 of ``indices``, the same ones for the same seed, in their order: the samples to begin with."""
    if len(indices) <= FIRST_STAGE:
        return tuple(indices)
    picked = np.random.default_rng(seed).choice(len(indices), FIRST_STAGE, replace=False)
    return tuple(indices[position] for position in np.sort(picked))


def at_best(values: Metrics) -> dict[str, Value]:
    """Return the values as good as all samples may still show them: each at its interval's better end."""
    return {name: value if value.value is None else _better_end(name, value) for name, value in values.items()}


def needs_all(
    metrics: Metrics, limits: Sequence[Limit], objectives: Sequence[Objective] = (), bar: Sequence[Metrics] = ()
) -> bool:
    """Whether the other samples are worth running, given what is known of a candidate, its quality ``at_best``.

    Not when a limit is broken for certain, nor when a point of the front (``bar``) beats the candidate even so.
    """
    broken = any(limit.metric in metrics and limit.standing(metrics[limit.metric]) == "broken" for limit in limits)
    return not broken and not certainly_dominated(metrics, objectives, bar)


def _better_end(name: str, value: Value) -> Value:
    low, high = value.interval()
    best = low if find_metric(name).goal == "min" else high
    return value.model_copy(update={"value": best, "low": best, "high": best})

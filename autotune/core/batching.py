"""A candidate's batch policy."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.core.candidate import Scalar
from autotune.core.deployment import Batching

__all__ = ["INSTANCES", "MAX_BATCH", "QUEUE_DELAY", "batching_of"]

MAX_BATCH, QUEUE_DELAY, INSTANCES = "max_batch", "queue_delay_s", "instances"


def batching_of(candidate: Mapping[str, Scalar]) -> Batching | None:
    """The policy that the candidate's parameters describe; None when it has none of them."""
    if not {MAX_BATCH, INSTANCES} & set(candidate):
        return None
    return Batching(
        max_batch=int(candidate.get(MAX_BATCH, 1)),
        delay_s=float(candidate.get(QUEUE_DELAY, 0.0)),
        instances=int(candidate.get(INSTANCES, 1)),
    )

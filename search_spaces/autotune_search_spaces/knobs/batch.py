"""How many samples a run takes, where the load lets the server choose."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.space import Offer, Omission
from autotune.core.workload import Workload
from autotune_search_spaces.knobs.choice import Choice, take

__all__ = ["BATCH", "batch"]

BATCH = ("batch_size",)


def batch(offers: Sequence[Offer], workload: Workload) -> Choice:
    """Only offline and server loads have batches: in a single stream, requests come one by one."""
    if workload.has("offline") or workload.has("server"):
        return take(BATCH, offers)
    reason = f"the workload {workload.name!r} has neither an offline nor a server phase"
    return Choice(omissions=(Omission(parameter="batch_size", reason=reason),))

"""How many samples a run takes, where the load lets the server choose."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.space import Offer, Omission
from autotune.core.workload import Workload
from autotune_search_spaces.knobs.choice import Choice, take

__all__ = ["BATCH", "batch"]

BATCH = ("batch_size",)


def batch(offers: Sequence[Offer], workload: Workload) -> Choice:
    """Only offline loads have batches of a fixed size: a server's are as large as its policy and the moment make them."""
    if workload.has("offline"):
        return take(BATCH, offers)
    reason = f"the workload {workload.name!r} has no offline phase"
    return Choice(omissions=(Omission(parameter="batch_size", reason=reason),))

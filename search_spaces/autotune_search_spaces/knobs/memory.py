"""Where activations lie, and where threads are pinned."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.space import Offer
from autotune_search_spaces.knobs.choice import Choice, take

__all__ = ["MEMORY", "memory"]

MEMORY = ("memory", "affinity")


def memory(offers: Sequence[Offer]) -> Choice:
    """An arena trades memory for latency."""
    return take(MEMORY, offers)

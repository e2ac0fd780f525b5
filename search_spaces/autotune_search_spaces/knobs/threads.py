"""How many threads work on a run, and what they do while they wait."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.space import Offer
from autotune_search_spaces.knobs.choice import Choice, take

__all__ = ["THREADS", "threads"]

THREADS = ("intra_op_threads", "execution_mode", "inter_op_threads", "spinning")


def threads(offers: Sequence[Offer]) -> Choice:
    """More threads trade energy for latency; spinning trades it too."""
    return take(THREADS, offers)

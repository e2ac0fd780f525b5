"""How a server of a language model forms its batches."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.space import Offer
from autotune_search_spaces.knobs.choice import Choice, join

__all__ = ["scheduling"]


def scheduling(offers: Sequence[Offer]) -> Choice:
    """Larger batches trade the time of each request for throughput; chunks keep long prompts from holding up the others."""
    return join(("batching", "max_num_seqs", "max_batched_tokens", "chunked_prefill"), offers)

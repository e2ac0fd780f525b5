"""How a server of a language model keeps the keys and values of what it has read."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.space import Offer
from autotune.core.workload import Workload
from autotune_search_spaces.knobs.choice import Choice, join

__all__ = ["kv_cache"]


def kv_cache(offers: Sequence[Offer], workload: Workload) -> Choice:
    """Small pages waste less memory. A prefix cache is a choice only where requests share text."""
    names = ["page_tokens"]
    phase = workload.serving
    if phase is not None and phase.tokens is not None:
        load = phase.tokens
        names += ["prefix_caching"] if load.shared_prefix_tokens or load.turns > 1 or load.trace is not None else []
    return join(names, offers)

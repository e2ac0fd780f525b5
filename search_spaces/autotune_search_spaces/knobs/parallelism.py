"""Over how many devices one replica of a language model is spread."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.space import Offer
from autotune_search_spaces.knobs.choice import Choice, join

__all__ = ["parallelism"]


def parallelism(offers: Sequence[Offer]) -> Choice:
    """Tensor parallelism divides every layer and pays with an all-reduce; pipeline stages divide the layers."""
    return join(("tp", "pp"), offers)

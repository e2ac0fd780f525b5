"""Number formats of a language model: of weights and products, of the KV cache, and what of the weights is left out."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.space import Offer
from autotune_search_spaces.knobs.choice import Choice, join

__all__ = ["number_format"]


def number_format(offers: Sequence[Offer]) -> Choice:
    """Fewer bits need less memory and less bandwidth; whether they multiply faster depends on the device."""
    return join(("precision", "sparsity", "kv_precision"), offers)

"""Whose kernels compute a PyTorch program, and in which layout."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.space import Offer
from autotune_search_spaces.knobs.choice import Choice, take

__all__ = ["KERNELS", "kernels"]

KERNELS = ("kernels",)


def kernels(offers: Sequence[Offer]) -> Choice:
    """Chosen before all else: every other choice belongs to some kernels."""
    return take(KERNELS, offers)

"""Numbers of tokens, drawn as a load describes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from autotune.core.token_load import TokenCounts

__all__ = ["draw_counts"]


def draw_counts(counts: TokenCounts, size: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw ``size`` numbers of tokens, each at least 1. A log-normal of mean m has the median m exp(-sigma² / 2)."""
    if counts.values:
        return generator.choice(np.asarray(counts.values, dtype=np.int64), size)
    sigma = counts.sigma
    drawn = counts.mean * np.exp(sigma * generator.standard_normal(size) - sigma**2 / 2)
    return np.maximum(1, np.rint(drawn)).astype(np.int64)

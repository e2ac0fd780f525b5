"""Whether samples come without a first axis."""

from __future__ import annotations

from autotune.core.model import ModelFacts

__all__ = ["has_batch"]


def has_batch(model: ModelFacts) -> bool:
    """Whether the first axis of every input is a batch, be it of size 1 only: samples then come without it."""
    return model.batch.works or model.batch.symbol is not None

"""Stacks samples into what a session is fed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autotune.core.model import ModelFacts
from autotune.core.samples import Tensors
from autotune.data.batch_axis import has_batch
from autotune.data.dataset import Dataset

__all__ = ["batches", "stacked"]


def batches(
    dataset: Dataset, indices: Sequence[int], model: ModelFacts, batch: int = 1
) -> Iterator[tuple[Tensors, list[Any]]]:
    """Yield (inputs, labels) for ``indices`` in turn, ``batch`` samples at a time, stacked on axis 0; the last may be smaller.

    A label is None where there is none. Without a batch axis a sample is the input itself.
    Raises ``ValueError`` when ``batch`` > 1 there, or when samples of different sizes would share a batch.
    """
    batched = has_batch(model)
    if batch < 1 or (batch > 1 and not batched):
        raise ValueError(f"{batch=} for a model {'with' if batched else 'without'} a batch axis")
    for start in range(0, len(indices), batch):
        samples, labels = zip(*(dataset.sample(index) for index in indices[start : start + batch]), strict=True)
        yield stacked(samples) if batched else samples[0], list(labels)


def stacked(samples: Sequence[Tensors]) -> Tensors:
    """One request of several samples. Raises ``ValueError`` when they differ in size."""
    return {name: np.stack([sample[name] for sample in samples]) for name in samples[0]}

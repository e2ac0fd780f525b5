"""The user's samples, or generated ones: opened and checked against the model, split once, stacked into batches."""

from __future__ import annotations

from autotune.data.batch_axis import has_batch
from autotune.data.dataset import Dataset, Sample, open_dataset
from autotune.data.facts import open_data, sizes_in
from autotune.data.stacking import batches

__all__ = ["Dataset", "Sample", "batches", "has_batch", "open_data", "open_dataset", "sizes_in"]

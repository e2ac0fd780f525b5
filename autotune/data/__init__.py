"""The user's samples, or generated ones: opened and checked against the model, split once, stacked into batches."""

from __future__ import annotations

from autotune.data.batch_axis import has_batch
from autotune.data.dataset import Dataset, Sample
from autotune.data.facts import open_data, open_dataset, sizes_in
from autotune.data.image_files import holds_images
from autotune.data.shaped import batches_at, mixed_order
from autotune.data.source import Source, open_source
from autotune.data.stacking import batches

__all__ = [
    "Dataset",
    "Sample",
    "Source",
    "batches",
    "batches_at",
    "has_batch",
    "holds_images",
    "mixed_order",
    "open_data",
    "open_dataset",
    "open_source",
    "sizes_in",
]

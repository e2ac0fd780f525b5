"""The user's data beside a deployed folder: the part that no candidate was chosen by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune.core.deployment import ExportedConfig
from autotune.core.model import ModelFacts
from autotune.core.samples import Tensors

__all__ = ["Batch", "Labelled", "read_labelled"]

Batch = tuple[Tensors, list[Any]]


@dataclass(frozen=True)
class Labelled:
    """Requests of batch 1 with their labels. ``same``: the very data of the promise."""

    batches: tuple[Batch, ...]
    same: bool
    generated: bool


def read_labelled(spec: str | None, config: ExportedConfig, facts: ModelFacts) -> Labelled:
    """Read the data's confirm part, split, and preprocessed, as in the search; ``spec`` None: generated inputs.

    ``facts`` of the model that takes them. Raises ``UserError``.
    """
    from autotune.data import batches, holds_images, open_data, open_dataset

    steps = config.quality.preprocess if spec is not None and holds_images(Path(spec)) else None
    data = open_data(spec, facts, config.quality.seed, steps)
    dataset = open_dataset(data, facts)
    taken = tuple((inputs, labels) for inputs, labels in batches(dataset, data.split.confirm, facts, 1))
    return Labelled(taken, same=data.sha256 == config.quality.data_sha256, generated=data.path is None)

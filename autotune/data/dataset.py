"""Samples by index, read when they are asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from autotune.core.dataset import DataFacts
from autotune.core.errors import UserError
from autotune.core.model import ModelFacts, TensorFacts
from autotune.data.arrays import UNREADABLE, ArrayFile
from autotune.data.dtypes import numpy_dtype
from autotune.data.fit import Layout, fit
from autotune.data.generated import GeneratedDataset
from autotune.data.source import Source, open_source

__all__ = ["ArrayDataset", "Dataset", "Sample", "open_dataset"]

Sample = tuple[dict[str, NDArray[Any]], Any]


class Dataset(Protocol):
    """Samples that fit a model."""

    def __len__(self) -> int: ...

    def sample(self, index: int) -> Sample:
        """Return (array per input, label or None). Arrays have no batch axis when the model has one; see ``has_batch``."""
        ...


def open_dataset(data: DataFacts, model: ModelFacts) -> Dataset:
    """Open what ``open_data`` described. Raises ``UserError`` when it is gone or no longer fits."""
    if data.path is None:
        return GeneratedDataset(model, data.seed, data.count)
    source = open_source(str(data.path))
    return ArrayDataset(source, model, fit(source, model))


class ArrayDataset:
    """The user's arrays. Files are mapped at the first sample."""

    def __init__(self, source: Source, model: ModelFacts, layout: Layout) -> None:
        self._source = source
        self._model = model
        self._layout = layout

    def __len__(self) -> int:
        return self._layout.count

    def sample(self, index: int) -> Sample:
        """Return one sample, of the model's types. Raises ``UserError`` when an integer does not fit the model's type."""
        inputs = {one.name: self._row(one, index) for one in self._model.inputs}
        label = self._layout.labels
        return inputs, None if label is None else self._arrays[label][index]

    @cached_property
    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {name: self._load(name, array) for name, array in self._source.arrays.items()}

    def _load(self, name: str, array: ArrayFile) -> NDArray[Any]:
        try:
            return array.load()
        except UNREADABLE as error:
            problem = f"{self._source.name}: {name!r} cannot be read: {error}"
            raise UserError(problem, "the file is damaged: write it again") from error

    def _row(self, one: TensorFacts, index: int) -> NDArray[Any]:
        found = self._arrays[one.name][index]
        if one.name in self._layout.lacking_axis:
            found = found[np.newaxis]
        row = np.array(found, dtype=numpy_dtype(one.dtype), order="C")
        if found.dtype.kind in "iu" and row.dtype.kind in "iu" and not np.array_equal(row, found):
            raise UserError(
                f"{self._source.name}: sample {index} of {one.name!r} holds a number too large for {one.dtype}",
                f"store {one.name!r} as {one.dtype}",
            )
        return row

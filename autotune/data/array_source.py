"""Arrays named as the model's inputs: in an ``.npz`` file, or as a folder of ``.npy`` files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from numpy.typing import NDArray

from autotune.core.errors import UserError
from autotune.core.hashing import hash_files
from autotune.core.model import ModelFacts
from autotune.data.arrays import UNREADABLE, ArrayFile, npy_array, npz_arrays
from autotune.data.dataset import Dataset, Fit, Sample
from autotune.data.fit import Layout, fit
from autotune.data.rows import model_row

__all__ = ["ArrayDataset", "ArraySource"]

_SUPPORTED = "give an .npz file with one array per input, or a folder of .npy files named so"


@dataclass(frozen=True)
class ArraySource:
    """Arrays by name. ``path`` is absolute; ``files`` are those to hash."""

    path: Path
    files: tuple[Path, ...]
    arrays: Mapping[str, ArrayFile]
    preprocess: None = None
    loader: None = None

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """Read the headers of an ``.npz`` file. Raises ``UserError``."""
        if path.suffix != ".npz":
            raise UserError(f"--data: {path.name} is not an .npz file", _SUPPORTED)
        try:
            arrays = npz_arrays(path)
        except UNREADABLE as error:
            raise UserError(
                f"--data: {path.name} cannot be read as .npz: {_first_line(error)}", "write it again with np.savez"
            ) from error
        if not arrays:
            raise UserError(f"--data: {path.name} holds no arrays", _SUPPORTED)
        return cls(path, (path,), arrays)

    @classmethod
    def of_folder(cls, path: Path) -> Self:
        """Read the headers of the ``.npy`` files in a folder and below. Raises ``UserError``."""
        files = tuple(sorted(path.rglob("*.npy")))
        if not files:
            raise UserError(f"--data {path.name}: the folder holds neither .npy files nor images", _SUPPORTED)
        return cls(path, files, {file.relative_to(path).with_suffix("").as_posix(): _npy(file) for file in files})

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.path.name

    def sha256(self) -> str:
        """The hash of the files."""
        return hash_files(self.files, self.path if self.path.is_dir() else self.path.parent)

    def fit(self, model: ModelFacts) -> Fit:
        """Hold names, types and shapes against the model. Raises ``UserError``."""
        layout = fit(self.name, self.arrays, model)
        return Fit(layout.count, layout.labels is not None, layout.sizes)

    def dataset(self, model: ModelFacts) -> Dataset:
        """The samples. Raises ``UserError`` when they do not fit."""
        return ArrayDataset(self, model, fit(self.name, self.arrays, model))


class ArrayDataset:
    """Rows of arrays. Files are mapped at the first sample."""

    def __init__(self, source: ArraySource, model: ModelFacts, layout: Layout) -> None:
        self._source = source
        self._model = model
        self._layout = layout

    def __len__(self) -> int:
        return self._layout.count

    def sample(self, index: int) -> Sample:
        """Return one sample, of the model's types. Raises ``UserError`` when an integer does not fit the model's type."""
        inputs = {}
        for one in self._model.inputs:
            where = f"{self._source.name}: sample {index}"
            found = self._arrays[one.name][index]
            inputs[one.name] = model_row(found, one, where, lacks_axis=one.name in self._layout.lacking_axis)
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


def _npy(file: Path) -> ArrayFile:
    try:
        return npy_array(file)
    except UNREADABLE as error:
        raise UserError(
            f"--data: {file.name} cannot be read as .npy: {_first_line(error)}", "write it again with np.save"
        ) from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)

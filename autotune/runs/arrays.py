"""Arrays on disk: raw samples under their names, and lists of tensors whatever a model calls its outputs."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.samples import Tensors
from autotune.runs.atomic import write_atomic

__all__ = ["read_tensors", "write_arrays", "write_tensors"]


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an ``.npz`` with these names, atomically. The folder is made when it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    write_atomic(path, buffer.getvalue())


def write_tensors(path: Path, tensors: Sequence[Tensors]) -> None:
    """Write one mapping of tensors a sample, atomically. All have the same names; strings are kept as text, not pickled."""
    names = list(tensors[0]) if tensors else []
    arrays: dict[str, NDArray[Any]] = {
        "names": np.asarray(names, dtype=np.str_),
        "count": np.asarray(len(tensors)),
    }
    for row, sample in enumerate(tensors):
        for column, name in enumerate(names):
            array = np.asarray(sample[name])
            text = array.dtype == np.object_
            arrays[f"{'text' if text else 'array'}_{row}_{column}"] = array.astype(np.str_) if text else array
    write_arrays(path, arrays)


def read_tensors(path: Path) -> list[Tensors]:
    """Read what ``write_tensors`` wrote. Raises ``OSError`` or ``ValueError`` when it cannot be."""
    with np.load(path, allow_pickle=False) as arrays:
        names = [str(name) for name in arrays["names"]]
        return [
            {name: _tensor(arrays, row, column) for column, name in enumerate(names)}
            for row in range(int(arrays["count"]))
        ]


def _tensor(arrays: Mapping[str, NDArray[Any]], row: int, column: int) -> NDArray[Any]:
    text = f"text_{row}_{column}"
    return arrays[text].astype(np.object_) if text in arrays else arrays[f"array_{row}_{column}"]

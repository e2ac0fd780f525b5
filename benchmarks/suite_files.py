"""A model of the ONNX suite as a user would have it: a file, its inputs as one sample, sizes for its symbolic dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.dimensions import symbols_in
from autotune.core.model import TensorFacts
from autotune.data.dtypes import stored_as
from autotune.models import read_model
from benchmarks.suite_models import SuiteModel

__all__ = ["SuiteFiles", "written"]


@dataclass(frozen=True)
class SuiteFiles:
    """``data`` None: the model has no inputs, or some that no array holds. ``dims``: as ``--dim`` gives them."""

    model: Path
    data: Path | None
    dims: tuple[str, ...]


def written(model: SuiteModel, place: Path) -> SuiteFiles:
    """Write the files into the folder ``place``. Raises ``UserError`` for a model that cannot be read."""
    import onnx

    file, data = place / "model.onnx", place / "data.npz"
    onnx.save(model.proto, file)
    dims = _sizes(read_model(file).inputs, model.inputs)
    if not model.inputs or not all(isinstance(value, np.ndarray | np.generic) for value in model.inputs.values()):
        return SuiteFiles(file, None, dims)
    np.savez(data, **{name: _storable(value)[np.newaxis] for name, value in model.inputs.items()})
    return SuiteFiles(file, data, dims)


def _sizes(inputs: Sequence[TensorFacts], values: Mapping[str, Any]) -> tuple[str, ...]:
    """A size for every symbol, the batch included: the suite's inputs are one request, whatever their first axis."""
    sizes = {
        dim: size
        for one in inputs
        if isinstance(values[one.name], np.ndarray)
        for dim, size in zip(one.shape or (), values[one.name].shape, strict=False)
        if isinstance(dim, str) and symbols_in(dim) == {dim}
    }
    return tuple(f"{name}={size}" for name, size in sizes.items())


def _storable(value: Any) -> NDArray[Any]:
    """Strings of a fixed width, and numpy's own types: what an ``.npz`` holds."""
    array = np.asarray(value)
    return array.astype(np.str_ if array.dtype == object else stored_as(array.dtype.name))

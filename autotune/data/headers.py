"""Types and shapes of one sample's tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autotune.data.dataset import Sample
from autotune.data.dtypes import numpy_dtype

__all__ = ["LABEL", "SampleHeader", "TensorHeader", "header_of"]

LABEL: Final = "\0label"  # no input can be called so


@dataclass(frozen=True)
class TensorHeader:
    """One tensor's type and shape."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class SampleHeader:
    """``tensors``: by name, in alphabetical order, numpy's word for the type, and the shape; the label's under ``LABEL``."""

    tensors: Mapping[str, tuple[str, tuple[int, ...]]]

    @property
    def labelled(self) -> bool:
        """Whether the sample has a label."""
        return LABEL in self.tensors

    @property
    def inputs(self) -> dict[str, TensorHeader]:
        """The inputs alone."""
        found = ((name, one) for name, one in self.tensors.items() if name != LABEL)
        return {name: TensorHeader(numpy_dtype(dtype), shape) for name, (dtype, shape) in found}

    def key(self) -> tuple[tuple[str, tuple[str, tuple[int, ...]]], ...]:
        """Equal for samples alike but for their values."""
        return tuple(self.tensors.items())

    def as_json(self) -> dict[str, list[Any]]:
        """As JSON."""
        return {name: [dtype, list(shape)] for name, (dtype, shape) in self.tensors.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SampleHeader:
        """What ``as_json`` gave."""
        return cls({name: (dtype, tuple(shape)) for name, (dtype, shape) in data.items()})


def header_of(sample: Sample) -> SampleHeader:
    """Types and shapes of a sample."""
    inputs, label = sample
    tensors = {name: _described(inputs[name]) for name in sorted(inputs)}
    return SampleHeader(tensors if label is None else {**tensors, LABEL: _described(np.asarray(label))})


def _described(array: NDArray[Any]) -> tuple[str, tuple[int, ...]]:
    """Types of numpy's own by their code, with the byte order; others (``bfloat16``) by name."""
    return array.dtype.name if array.dtype.kind == "V" else array.dtype.str, array.shape

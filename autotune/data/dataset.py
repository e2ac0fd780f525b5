"""Samples by index, read when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

__all__ = ["Dataset", "Fit", "Sample"]

Sample = tuple[dict[str, NDArray[Any]], Any]


class Dataset(Protocol):
    """Samples that fit a model."""

    def __len__(self) -> int: ...

    def sample(self, index: int) -> Sample:
        """Return (array per input, label or None). Arrays have no batch axis when the model has one; see ``has_batch``.

        Raises ``UserError`` when what is stored under ``index`` cannot be read.
        """
        ...


@dataclass(frozen=True)
class Fit:
    """How data fit a model. ``sizes``: what they say of its symbolic dimensions; ``varying``: those that differ from sample to
    sample, whose size is then the commonest.
    """

    count: int
    labels: bool
    sizes: Mapping[str, int] = field(default_factory=dict)
    varying: tuple[str, ...] = ()

"""Sizes for symbolic dimensions: the user's, else a default by name. The same symbol has the same size everywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from autotune.core.dimensions import evaluate, symbols_in
from autotune.core.errors import UserError, nearest
from autotune.core.model import TensorFacts

__all__ = ["evaluate", "is_length", "size_dims", "symbols_in"]

_BATCH: Final = re.compile(r"batch|^(n|b|bs)$", re.IGNORECASE)
_PAST: Final = re.compile(r"past|cache", re.IGNORECASE)
_LENGTH: Final = re.compile(r"seq|len|time|token|frame|step|^(s|t|l)$", re.IGNORECASE)
_IMAGE: Final = re.compile(r"height|width|image|^(h|w)$", re.IGNORECASE)
_CHANNELS: Final = re.compile(r"channel|^c$", re.IGNORECASE)
_DEFAULTS: Final[tuple[tuple[re.Pattern[str], int], ...]] = (
    (_BATCH, 1),
    (_PAST, 0),
    (_LENGTH, 128),
    (_IMAGE, 224),
    (_CHANNELS, 3),
)
_SIZE: Final = 16


def size_dims(inputs: Sequence[TensorFacts], batch: str | None, asked: Mapping[str, int]) -> dict[str, int]:
    """Return a size for each symbol of the inputs' shapes; an axis such as ``past + 1`` follows from its symbols.

    ``batch`` is the batch axis's symbol: 1. Names that speak of a length get 128, of an image's side 224 (as do the last
    axes of a four-dimensional input), of channels 3, of a cache 0, others 16. ``asked`` overrides.
    Raises ``UserError`` for an asked symbol that no input has, or a negative size.
    """
    sizes: dict[str, int] = {}
    for one in inputs:
        for axis, dim in enumerate(one.shape or ()):
            for symbol in symbols_in(dim):
                sizes.setdefault(symbol, 1 if symbol == batch else _default(symbol, axis, len(one.shape or ())))
    _refuse_unknown(asked, sizes)
    sizes.update(asked)
    derived = {dim: evaluate(dim, sizes) for one in inputs for dim in one.shape or () if isinstance(dim, str)}
    return sizes | {symbol: size for symbol, size in derived.items() if size is not None}


def is_length(symbol: str) -> bool:
    """Whether the name speaks of a length rather than of a batch."""
    return bool(_LENGTH.search(symbol)) and not _BATCH.search(symbol)


def _default(symbol: str, axis: int, rank: int) -> int:
    for pattern, size in _DEFAULTS:
        if pattern.search(symbol):
            return size
    if axis == 0:
        return 1
    return 224 if rank == 4 and axis >= 2 else _SIZE


def _refuse_unknown(asked: Mapping[str, int], known: Mapping[str, int]) -> None:
    for symbol, size in asked.items():
        if symbol not in known:
            remedy = f"symbolic dimensions: {', '.join(known)}" if known else "every dimension of the inputs is fixed"
            raise UserError(f"--dim {symbol}: no input has a dimension of that name{nearest(symbol, known)}", remedy)
        if size < 0:
            raise UserError(f"--dim {symbol}={size} is negative", "give a size of 0 or more")

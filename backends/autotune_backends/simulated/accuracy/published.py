"""Looks up what a change keeps of the original's accuracy, and says how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from autotune_backends.simulated.transformers.model import TransformerModel

__all__ = ["PublishedAccuracy", "published_accuracy"]

_TABLE: Final = Path(__file__).with_name("published.yaml")
_UNCHANGED: Final = ("fp32", "tf32", "bf16", "fp16")
_EXACT, _OTHER_FAMILY, _FLOOR = 0.5, 1.5, 0.005
"""Half-widths, as parts of the loss found and an absolute least: benchmarks of one model differ by that much among themselves."""
_NEAR_SIZE = 1.3  # a factor within which two models are of one size


@dataclass(frozen=True, slots=True)
class PublishedAccuracy:
    """``kept``: the share of the original's mean task accuracy, within ``low``..``high`` (about 80 %).

    ``basis``: the source, and by what it was carried over.
    """

    kept: float
    low: float
    high: float
    basis: str


@dataclass(frozen=True, slots=True)
class _Row:
    family: str
    billions: float
    kept: float
    source: str


def published_accuracy(model: TransformerModel, precision: str, sparsity: str = "none") -> PublishedAccuracy | None:
    """Of the model in that precision and sparsity; None where nothing is published.

    What the model's owner measured counts before what others published, as it is given. Larger models lose less: between
    published sizes the loss is interpolated over the logarithm of the size, beyond them the nearest is taken, and the interval
    is wider. Losses of precision and of sparsity multiply.
    """
    parts = []
    if precision not in _UNCHANGED:
        parts.append(_own(model, "precision", precision) or _found(model, _rows("precision", precision)))
    if sparsity != "none":
        parts.append(_own(model, "sparsity", sparsity) or _found(model, _rows("sparsity", sparsity)))
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return _product(known)


def _own(model: TransformerModel, kind: str, value: str) -> PublishedAccuracy | None:
    row = next((row for row in model.kept if getattr(row, kind) == value), None)
    return (
        None if row is None else PublishedAccuracy(row.kept, row.low, row.high, f"given for this model: {row.source}")
    )


def _product(parts: Sequence[PublishedAccuracy]) -> PublishedAccuracy:
    if not parts:
        return PublishedAccuracy(1.0, 1.0, 1.0, "the model as it is published")
    return PublishedAccuracy(
        math.prod(part.kept for part in parts),
        math.prod(part.low for part in parts),
        math.prod(part.high for part in parts),
        "; ".join(part.basis for part in parts),
    )


def _found(model: TransformerModel, rows: Sequence[_Row]) -> PublishedAccuracy | None:
    if not rows:
        return None
    own = [row for row in rows if _is_of(model, row.family)]
    used = own or list(rows)
    billions = model.parameters / 1e9
    kept, below, above = _interpolated(used, billions)
    exact = bool(own) and max(billions, below.billions) / min(billions, below.billions) <= _NEAR_SIZE
    loss = abs(1.0 - kept)
    half = _FLOOR + loss * (_EXACT if exact else _OTHER_FAMILY)
    sources = below.source if below is above else f"{below.source}; {above.source}"
    return PublishedAccuracy(kept, kept - half, kept + half, sources if exact else f"carried over from {sources}")


def _interpolated(rows: Sequence[_Row], billions: float) -> tuple[float, _Row, _Row]:
    """(kept, the nearest row, the one on the other side): the same row twice beyond the ends."""
    ordered = sorted(rows, key=lambda row: row.billions)
    below = [row for row in ordered if row.billions <= billions]
    above = [row for row in ordered if row.billions > billions]
    if not below or not above:
        end = below[-1] if below else above[0]
        return end.kept, end, end
    low, high = below[-1], above[0]
    share = math.log(billions / low.billions) / math.log(high.billions / low.billions)
    kept = low.kept + share * (high.kept - low.kept)
    near, far = (low, high) if share <= 0.5 else (high, low)
    return kept, near, far


def _is_of(model: TransformerModel, family: str) -> bool:
    """``llama-3`` covers 3.1 to 3.3; ``llama`` is the first one and the second, which has its shape."""
    first = ("llama-7b", "llama-13b", "llama-30b", "llama-65b", "llama-2-")
    return model.name.startswith(first) if family == "llama" else model.name.startswith(family)


@cache
def _rows(kind: str, value: str) -> tuple[_Row, ...]:
    import yaml

    table: list[Mapping[str, Any]] = yaml.safe_load(_TABLE.read_text(encoding="utf-8"))
    return tuple(
        _Row(row["family"], float(row["billions"]), _kept(row), row["source"])
        for row in table
        if row.get(kind) == value
    )


def _kept(row: Mapping[str, Any]) -> float:
    return float(row["kept"]) if "kept" in row else float(row["changed"]) / float(row["original"])

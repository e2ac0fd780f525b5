"""Checks that the user's arrays fit the model, and says exactly what does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

import numpy as np

from autotune.core.errors import UserError, nearest
from autotune.core.model import ModelFacts, TensorFacts
from autotune.data.batch_axis import has_batch
from autotune.data.dtypes import convertible, stored_as

__all__ = ["LABELS", "Header", "Layout", "fit", "fit_sample", "refuse_other_kinds"]

LABELS = "labels"
Dim = int | str | None


class Header(Protocol):
    """Type and shape of an array that need not be in memory."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        ...


@dataclass(frozen=True)
class Layout:
    """How arrays become samples. ``labels`` None: unlabelled. ``lacking_axis``: inputs whose leading axis of 1 is added.

    ``sizes``: what the arrays say of the model's symbolic dimensions.
    """

    count: int
    labels: str | None
    lacking_axis: frozenset[str] = frozenset()
    sizes: Mapping[str, int] = field(default_factory=dict)


def fit(source: str, arrays: Mapping[str, Header], model: ModelFacts) -> Layout:
    """Return the layout of arrays whose first axis counts the samples. ``source`` names them in messages.

    Raises ``UserError`` at the first thing that does not fit.
    """
    refuse_other_kinds(model)
    names = [one.name for one in model.inputs]
    labels = LABELS if LABELS in arrays and LABELS not in names else None
    _check_names(source, [name for name in arrays if name != labels], names)
    for name, array in arrays.items():
        _check_contents(source, name, array)
    count = _count(source, arrays, labels)
    rows = _Rows(source, {name: array.shape[1:] for name, array in arrays.items()}, ("samples",), (count,))
    return _layout(rows, arrays, model, count, labels)


def fit_sample(source: str, arrays: Mapping[str, Header], model: ModelFacts) -> Layout:
    """Return the layout of one sample's inputs. Raises ``UserError`` as ``fit`` does."""
    refuse_other_kinds(model)
    _check_names(source, list(arrays), [one.name for one in model.inputs])
    for name, array in arrays.items():
        if array.dtype.hasobject:
            _refuse_objects(source, name)
    rows = _Rows(source, {name: array.shape for name, array in arrays.items()})
    return _layout(rows, arrays, model, 1, None)


def refuse_other_kinds(model: ModelFacts) -> None:
    """Raise ``UserError`` for a model whose inputs are not all tensors."""
    for one in model.inputs:
        if one.kind != "tensor":
            remedy = "every input has to be a tensor: export the model so"
            raise UserError(f"input {one.name!r} is of the type {one.kind}, which arrays cannot hold", remedy)


@dataclass(frozen=True)
class _Rows:
    """One sample's shapes; ``lead`` and ``counted`` are how the axis before them is called in messages, and its size."""

    source: str
    shapes: Mapping[str, tuple[int, ...]]
    lead: tuple[str, ...] = ()
    counted: tuple[int, ...] = ()

    def refuse(self, problem: str, name: str, needed: Sequence[Dim]) -> NoReturn:
        """Raise ``UserError`` with both shapes."""
        wanted = ", ".join([*self.lead, *("any" if dim is None else str(dim) for dim in needed)])
        found = (*self.counted, *self.shapes[name])
        raise UserError(f"{self.source}: {problem}", f"its shape is {found}; needed is ({wanted})")

    def axis(self, position: int) -> int:
        """How an axis of the sample is numbered in messages."""
        return position + len(self.lead)


def _layout(rows: _Rows, arrays: Mapping[str, Header], model: ModelFacts, count: int, labels: str | None) -> Layout:
    sizes: dict[str, tuple[int, str]] = {}
    lacking = {one.name for one in model.inputs if _check(rows, arrays[one.name], one, model, sizes)}
    return Layout(count, labels, frozenset(lacking), {symbol: size for symbol, (size, _) in sizes.items()})


def _check_names(source: str, found: list[str], names: list[str]) -> None:
    for name in names:
        if name not in found:
            remedy = f"arrays there: {', '.join(found)}" if found else "it holds nothing but labels"
            raise UserError(f"{source} has no array for input {name!r}{nearest(name, found)}", remedy)
    for name in found:
        if name not in names:
            remedy = f"inputs: {', '.join(names)}; labels go under {LABELS!r}"
            raise UserError(f"{source}: {name!r} is no input of the model{nearest(name, names)}", remedy)


def _check_contents(source: str, name: str, array: Header) -> None:
    if array.dtype.hasobject:
        _refuse_objects(source, name)
    if not array.shape:
        raise UserError(f"{source}: {name!r} is a single number", "its first axis must count the samples")


def _refuse_objects(source: str, name: str) -> NoReturn:
    raise UserError(f"{source}: {name!r} holds Python objects", "store numbers of one shape, padded to one length")


def _count(source: str, arrays: Mapping[str, Header], labels: str | None) -> int:
    counts = {name: array.shape[0] for name, array in arrays.items()}
    first, count = next((name, count) for name, count in counts.items() if name != labels)
    for name, other in counts.items():
        if other != count:
            remedy = "the first axis of every array counts the samples"
            raise UserError(f"{source}: {name!r} has {other} samples, {first!r} has {count}", remedy)
    if count == 0:
        raise UserError(f"{source} holds no samples", "the first axis of every array counts the samples")
    return count


def _check(rows: _Rows, array: Header, one: TensorFacts, model: ModelFacts, sizes: dict[str, tuple[int, str]]) -> bool:
    """Check one input; True when its leading axis of 1 is to be added. ``sizes``: symbol → size and where it was seen."""
    if not convertible(array.dtype, one.dtype):
        remedy = f"convert it: array.astype({stored_as(one.dtype)!r})"
        raise UserError(f"{rows.source}: {one.name!r} is {array.dtype}, the model needs {one.dtype}", remedy)
    if one.shape is None:
        return False
    lacking = _lacks_axis(rows.shapes[one.name], one.shape, model)
    needed = one.shape[1:] if lacking or has_batch(model) else one.shape
    _check_shape(rows, one.name, needed, sizes)
    return lacking


def _lacks_axis(found: tuple[int, ...], shape: tuple[Dim, ...], model: ModelFacts) -> bool:
    """Whether a model without a batch axis has a first axis of 1 that the samples leave out."""
    if has_batch(model) or not shape or len(found) + 1 != len(shape):
        return False
    first = shape[0]
    return (model.dims.get(first) if isinstance(first, str) else first) == 1


def _check_shape(rows: _Rows, name: str, needed: tuple[Dim, ...], sizes: dict[str, tuple[int, str]]) -> None:
    found, lead = rows.shapes[name], len(rows.lead)
    if len(found) != len(needed):
        what = "are needed, the samples' own first" if lead else "are needed"
        problem = f"{name!r} has {len(found) + lead} axes, {len(needed) + lead} {what}"
        batched = not lead and len(found) == len(needed) + 1 and found[0] == 1
        rows.refuse(f"{problem}: leave out the batch axis" if batched else problem, name, needed)
    for position, (size, dim) in enumerate(zip(found, needed, strict=True)):
        axis = rows.axis(position)
        if isinstance(dim, int) and size != dim:
            rows.refuse(f"axis {axis} of {name!r} is {size}, the model needs {dim}", name, needed)
        if isinstance(dim, str):
            seen, where = sizes.setdefault(dim, (size, name))
            if seen != size:
                rows.refuse(f"axis {axis} of {name!r} is {size}, but {dim} is {seen} in {where!r}", name, needed)

"""Checks that the user's arrays fit the model, and says exactly what does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from autotune.core.errors import UserError, nearest
from autotune.core.model import ModelFacts, TensorFacts
from autotune.data.arrays import ArrayFile
from autotune.data.batch_axis import has_batch
from autotune.data.dtypes import convertible
from autotune.data.source import Source

__all__ = ["LABELS", "Layout", "fit"]

LABELS = "labels"
Dim = int | str | None


@dataclass(frozen=True)
class Layout:
    """How arrays become samples. ``labels`` None: unlabelled. ``lacking_axis``: inputs whose leading axis of 1 is added.

    ``sizes``: what the arrays say of the model's symbolic dimensions.
    """

    count: int
    labels: str | None
    lacking_axis: frozenset[str] = frozenset()
    sizes: Mapping[str, int] = field(default_factory=dict)


def fit(source: Source, model: ModelFacts) -> Layout:
    """Return the layout of ``source`` for ``model``. Raises ``UserError`` at the first thing that does not fit."""
    names = [one.name for one in model.inputs]
    labels = LABELS if LABELS in source.arrays and LABELS not in names else None
    _check_names(source, names, labels)
    for name, array in source.arrays.items():
        _check_contents(source, name, array)
    count = _count(source, labels)
    sizes: dict[str, tuple[int, str]] = {}
    lacking = {one.name for one in model.inputs if _check(source, one, model, sizes)}
    return Layout(count, labels, frozenset(lacking), {symbol: size for symbol, (size, _) in sizes.items()})


def _check_names(source: Source, names: list[str], labels: str | None) -> None:
    found = [name for name in source.arrays if name != labels]
    for name in names:
        if name not in found:
            remedy = f"arrays there: {', '.join(found)}" if found else "it holds nothing but labels"
            raise UserError(f"{source.name} has no array for input {name!r}{nearest(name, found)}", remedy)
    for name in found:
        if name not in names:
            remedy = f"inputs: {', '.join(names)}; labels go under {LABELS!r}"
            raise UserError(f"{source.name}: {name!r} is no input of the model{nearest(name, names)}", remedy)


def _check_contents(source: Source, name: str, array: ArrayFile) -> None:
    if array.dtype.hasobject:
        raise UserError(
            f"{source.name}: {name!r} holds Python objects", "store numbers of one shape, padded to one length"
        )
    if not array.shape:
        raise UserError(f"{source.name}: {name!r} is a single number", "its first axis must count the samples")


def _count(source: Source, labels: str | None) -> int:
    counts = {name: array.shape[0] for name, array in source.arrays.items()}
    first, count = next((name, count) for name, count in counts.items() if name != labels)
    for name, other in counts.items():
        if other != count:
            remedy = "the first axis of every array counts the samples"
            raise UserError(f"{source.name}: {name!r} has {other} samples, {first!r} has {count}", remedy)
    if count == 0:
        raise UserError(f"{source.name} holds no samples", "the first axis of every array counts the samples")
    return count


def _check(source: Source, one: TensorFacts, model: ModelFacts, sizes: dict[str, tuple[int, str]]) -> bool:
    """Check one input; True when its leading axis of 1 is to be added. ``sizes``: symbol → size and where it was seen."""
    array = source.arrays[one.name]
    if one.kind != "tensor":
        raise UserError(
            f"input {one.name!r} is a {one.kind}, which arrays cannot hold", "use a model with tensor inputs"
        )
    if not convertible(array.dtype, one.dtype):
        remedy = f"convert it: array.astype({one.dtype!r})"
        raise UserError(f"{source.name}: {one.name!r} is {array.dtype}, the model needs {one.dtype}", remedy)
    if one.shape is None:
        return False
    lacking = _lacks_axis(array, one.shape, model)
    needed = one.shape[1:] if lacking or has_batch(model) else one.shape
    _check_shape(source, one.name, array.shape, needed, sizes)
    return lacking


def _lacks_axis(array: ArrayFile, shape: tuple[Dim, ...], model: ModelFacts) -> bool:
    """Whether a model without a batch axis has a first axis of 1 that the samples leave out."""
    if has_batch(model) or not shape or len(array.shape) != len(shape):
        return False
    first = shape[0]
    return (model.dims.get(first) if isinstance(first, str) else first) == 1


def _check_shape(
    source: Source,
    name: str,
    found: tuple[int, ...],
    needed: tuple[Dim, ...],
    sizes: dict[str, tuple[int, str]],
) -> None:
    if len(found) != len(needed) + 1:
        _refuse(source, f"{name!r} has {len(found)} axes, the model needs {len(needed) + 1}", found, needed)
    for axis, (size, dim) in enumerate(zip(found[1:], needed, strict=True), start=1):
        if isinstance(dim, int) and size != dim:
            _refuse(source, f"axis {axis} of {name!r} is {size}, the model needs {dim}", found, needed)
        if isinstance(dim, str):
            seen, where = sizes.setdefault(dim, (size, name))
            if seen != size:
                problem = f"axis {axis} of {name!r} is {size}, but {dim} is {seen} in {where!r}"
                _refuse(source, problem, found, needed)


def _refuse(source: Source, problem: str, found: tuple[int, ...], needed: tuple[Dim, ...]) -> NoReturn:
    wanted = ", ".join(["samples", *("any" if dim is None else str(dim) for dim in needed)])
    raise UserError(f"{source.name}: {problem}", f"its shape is {found}; needed is ({wanted})")

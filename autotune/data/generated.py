"""Inputs made up for a model: true to type, shape and range of values; the same for the same seed and index."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autotune.core.dimensions import resized
from autotune.core.errors import UserError
from autotune.core.model import ModelFacts, TensorFacts
from autotune.core.workload import Shape
from autotune.data.batch_axis import has_batch
from autotune.data.dtypes import numpy_dtype
from autotune.data.fit import refuse_other_kinds
from autotune.host.memory import memory_limit

__all__ = ["GENERATED", "GeneratedDataset", "at_sizes", "recipe", "refuse_what_cannot_be_generated"]

GENERATED: Final = 64  # samples
_VERSION: Final = 1  # raise it when the same seed gives other values
_UNBOUNDED: Final = 16  # integers of unknown meaning lie below it: small ones are legal nearly everywhere
_UNNAMED: Final = 16  # size of an axis that has neither size nor name
_DRAWN_BYTES: Final = 8  # a number while it is drawn
_SHARE_OF_MEMORY: Final = 0.25  # the model's activations are of that size, too, and it runs in a process of its own
_MASK: Final = re.compile(r"mask", re.IGNORECASE)
_SEGMENT: Final = re.compile(r"token_type|segment", re.IGNORECASE)
_POSITION: Final = re.compile(r"position", re.IGNORECASE)
_IMAGE: Final = re.compile(r"image|pixel", re.IGNORECASE)


class GeneratedDataset:
    """``count`` generated samples, without labels. ``shapes`` None or empty: at the model's sizes, else at each in turn."""

    def __init__(
        self, model: ModelFacts, seed: int, count: int = GENERATED, shapes: Sequence[Shape] | None = None
    ) -> None:
        self._models = [at_sizes(model, shape.dims) for shape in shapes or ()] or [model]
        for one in self._models:
            refuse_what_cannot_be_generated(one)
        self._seed = seed
        self._count = count

    def __len__(self) -> int:
        return self._count

    def sample(self, index: int) -> tuple[dict[str, NDArray[Any]], None]:
        """Return (array per input, None)."""
        model = self._models[index % len(self._models)]
        inputs = {}
        for position, one in enumerate(model.inputs):
            random = np.random.default_rng([self._seed, index, position])
            inputs[one.name] = _draw(one, _shape(one, model), random)
        return inputs, None


def at_sizes(model: ModelFacts, dims: Mapping[str, int]) -> ModelFacts:
    """The model with other sizes for its symbolic dimensions."""
    return model.model_copy(update={"dims": resized(model.dims, dims)})


def refuse_what_cannot_be_generated(model: ModelFacts) -> None:
    """Raise ``UserError`` for inputs that nothing sensible can be made up for."""
    refuse_other_kinds(model)
    for one in model.inputs:
        if one.shape is None:
            raise UserError(f"input {one.name!r} is of unknown rank: none can be generated", "give inputs with --data")
    needed, limit = sum(prod(_shape(one, model)) * _DRAWN_BYTES for one in model.inputs), memory_limit().bytes
    if limit is not None and needed > limit * _SHARE_OF_MEMORY:
        sizes = " ".join(f"--dim {symbol}={size}" for symbol, size in model.dims.items())
        raise UserError(
            f"inputs of these sizes take {needed / 2**30:.0f} GiB, and this machine has {limit / 2**30:.0f} GiB",
            f"give smaller ones; now they are {sizes or 'fixed by the model'}",
        )


def recipe(model: ModelFacts, seed: int, shapes: Sequence[Shape] = ()) -> dict[str, Any]:
    """What the generated values follow from, as JSON."""
    inputs = [one.model_dump(mode="json") for one in model.inputs]
    mixed = {"shapes": [shape.dims for shape in shapes]} if shapes else {}
    basis = {"generated": _VERSION, "seed": seed, "inputs": inputs, "dims": model.dims, "batch": has_batch(model)}
    return basis | mixed


def _shape(one: TensorFacts, model: ModelFacts) -> tuple[int, ...]:
    shape = [_size(dim, model) for dim in one.shape or ()]
    return tuple(shape[1:] if has_batch(model) else shape)


def _size(dim: int | str | None, model: ModelFacts) -> int:
    if isinstance(dim, str):
        return model.dims.get(dim, _UNNAMED)
    return _UNNAMED if dim is None else dim


def _draw(one: TensorFacts, shape: tuple[int, ...], random: np.random.Generator) -> NDArray[Any]:
    if one.dtype == "str":
        return _words(shape, random)
    dtype = numpy_dtype(one.dtype)
    drawn = _floats(one, shape, random) if _is_float(one) else _integers(one, dtype, shape, random)
    return np.asarray(drawn).astype(dtype).reshape(shape)


def _is_float(one: TensorFacts) -> bool:
    return one.high is None and ("float" in one.dtype or "complex" in one.dtype)


def _floats(one: TensorFacts, shape: tuple[int, ...], random: np.random.Generator) -> NDArray[Any]:
    """Images lie in [0, 1], masks are 1, everything else is standard normal."""
    if _MASK.search(one.name):
        return np.ones(shape)
    if _IMAGE.search(one.name) or (
        one.shape is not None and len(one.shape) == 4 and {one.shape[1], one.shape[3]} & {1, 3}
    ):
        return random.random(shape)
    return random.standard_normal(shape)


def _integers(
    one: TensorFacts, dtype: np.dtype[Any], shape: tuple[int, ...], random: np.random.Generator
) -> NDArray[Any]:
    """Ids within their table, masks 1, segments 0, positions counted; bytes 0..255; integers of unknown meaning below 16."""
    low, high = _range(one, dtype)
    if _MASK.search(one.name):
        return np.full(shape, min(1, high))
    if _SEGMENT.search(one.name):
        return np.full(shape, low)
    if _POSITION.search(one.name) and shape:
        return np.broadcast_to(np.minimum(low + np.arange(shape[-1]), high), shape)
    return random.integers(low, high, shape, endpoint=True)


def _range(one: TensorFacts, dtype: np.dtype[Any]) -> tuple[int, int]:
    if one.high is not None:
        return int(one.low or 0), int(one.high)
    if dtype.kind == "b":
        return 0, 1
    if one.dtype == "uint8":
        return 0, 255
    return 0, 7 if one.dtype in ("int4", "uint4") else _UNBOUNDED - 1


def _words(shape: tuple[int, ...], random: np.random.Generator) -> NDArray[Any]:
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(random.choice(letters, random.integers(2, 9))) for _ in range(prod(shape))]
    return np.array(words, dtype=str).reshape(shape)

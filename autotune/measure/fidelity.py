"""Fidelity: how near a candidate's outputs are to the unoptimised model's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autotune.core.samples import Tensors
from autotune.measure.output_kinds import Kind, kind_of

__all__ = ["OutputFidelity", "cosine", "output_fidelities", "sqnr_db"]

Array = NDArray[np.generic]
Pair = tuple[Array, Array]


@dataclass(frozen=True)
class OutputFidelity:
    """One output over all samples. ``per_sample``: 1 is the same result. ``sqnr_db`` None: no noise, or no numbers.

    ``blind``: the reference holds no finite number, so that being near to it says nothing.
    """

    name: str
    kind: Kind
    per_sample: NDArray[np.float64]
    sqnr_db: float | None
    blind: bool = False

    @property
    def mean(self) -> float:
        """Over samples."""
        return float(self.per_sample.mean())


def output_fidelities(
    found: Sequence[Tensors], reference: Sequence[Tensors], counts: Sequence[int]
) -> tuple[OutputFidelity, ...]:
    """Compare batches of outputs with the reference's, output by output.

    Both hold the same batches in the same order; ``counts`` is how many samples each holds. An output whose first axis is not
    of that size is compared as a whole.
    """
    return tuple(_output_fidelity(name, _sample_pairs(name, found, reference, counts)) for name in reference[0])


def cosine(found: Array, expected: Array) -> float:
    """Return the cosine between two arrays taken as vectors; 1 when both are zero, 0 when only one is."""
    a, b = _finite_vector(found), _finite_vector(expected)
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    if norms == 0:
        return float(not a.any() and not b.any())
    return float(np.clip(a @ b / norms, -1.0, 1.0))


def sqnr_db(signal: float, noise: float) -> float | None:
    """Return the signal-to-quantisation-noise ratio in dB from the two powers; None when either is zero."""
    return None if signal <= 0 or noise <= 0 else float(10 * np.log10(signal / noise))


def _sample_pairs(
    name: str, found: Sequence[Tensors], reference: Sequence[Tensors], counts: Sequence[int]
) -> list[Pair]:
    pairs: list[Pair] = []
    for mine, theirs, count in zip(found, reference, counts, strict=True):
        a, b = np.asarray(mine[name]), np.asarray(theirs[name])
        if a.shape == b.shape and b.ndim > 0 and b.shape[0] == count:
            pairs.extend((np.asarray(one), np.asarray(other)) for one, other in zip(a, b, strict=True))
        else:
            pairs.append((a, b))
    return pairs


def _output_fidelity(name: str, pairs: Sequence[Pair]) -> OutputFidelity:
    kind = kind_of(name, [theirs for _, theirs in pairs])
    if _is_blind([theirs for _, theirs in pairs]):
        return OutputFidelity(name, kind, _each(pairs, _COMPARED.get(kind, _equal_share)), None, blind=True)
    if kind == "equality":
        return OutputFidelity(name, kind, _each(pairs, _equal_share), None)
    if kind == "cosine over samples":
        mine, theirs = (np.asarray([pair[side].ravel()[:1] for pair in pairs]) for side in (0, 1))
        return OutputFidelity(name, kind, np.asarray([cosine(mine, theirs)]), _sqnr(pairs))
    return OutputFidelity(name, kind, _each(pairs, _COMPARED[kind]), _sqnr(pairs))


def _is_blind(reference: Sequence[Array]) -> bool:
    numbers = [array for array in reference if array.size and array.dtype.kind in "fc"]
    return bool(numbers) and not any(np.isfinite(array).any() for array in numbers)


def _each(pairs: Sequence[Pair], compare: Callable[[Array, Array], float]) -> NDArray[np.float64]:
    return np.asarray([compare(a, b) if a.shape == b.shape else 0.0 for a, b in pairs], dtype=np.float64)


def _equal_share(found: Array, expected: Array) -> float:
    return float(np.mean(found == expected)) if expected.size else 1.0


def _same_best(found: Array, expected: Array) -> float:
    """The share of vectors along the last axis whose largest number is at the same place."""
    return float(np.mean(np.argmax(found, axis=-1) == np.argmax(expected, axis=-1))) if expected.size else 1.0


_COMPARED: dict[Kind, Callable[[Array, Array], float]] = {
    "top-1 agreement": _same_best,
    "top-1 agreement by position": _same_best,
    "cosine": cosine,
}


def _sqnr(pairs: Sequence[Pair]) -> float | None:
    comparable = [(_finite_vector(a), _finite_vector(b)) for a, b in pairs if a.shape == b.shape]
    signal = sum(float(b @ b) for _, b in comparable)
    noise = sum(float((a - b) @ (a - b)) for a, b in comparable)
    return sqnr_db(signal, noise)


def _finite_vector(array: Array) -> NDArray[np.float64]:
    """All numbers in one row; a complex one as two."""
    flat = np.asarray(array).ravel()
    flat = flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
    return np.nan_to_num(flat.astype(np.float64), posinf=0.0, neginf=0.0)

"""What an output is, as far as its name, type and values tell: it decides how two of them are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Kind", "holds_class_scores", "is_float", "kind_of"]

Array = NDArray[np.generic]
Kind = Literal["equality", "top-1 agreement", "top-1 agreement by position", "cosine over samples", "cosine"]

_SCORE_NAMES = ("logit", "score")
_SUM_TOLERANCE = 1e-2
_PIXEL_VALUES = 64  # a mask of classes has fewer different ones


def kind_of(name: str, samples: Sequence[Array]) -> Kind:
    """How outputs called ``name`` are compared; ``samples`` are the reference's, one array a sample.

    Class numbers, token ids, booleans and strings: the share that is equal. Class scores: whether the best class is the same;
    of a class at each position (tokens, frames), at how many it is. Single numbers: the cosine of all samples taken as one
    vector (one alone has only its sign). Everything else (embeddings, heat maps, boxes, images): the cosine of each sample.
    """
    if not all(is_float(array) or _is_pixels(array) for array in samples):
        return "equality"
    if holds_class_scores(name, samples):
        return "top-1 agreement"
    if _holds_scores_by_position(name, samples):
        return "top-1 agreement by position"
    return "cosine over samples" if all(array.size == 1 for array in samples) else "cosine"


def holds_class_scores(name: str, samples: Sequence[Array]) -> bool:
    """Whether an output (one array a sample) is class scores, of which the largest is the answer.

    It is when every sample is a vector of two or more floats, and either the name says so (logits, scores) or every vector is
    a distribution: no negative numbers, summing to 1. Probabilities of something else (speech in each frame, independent
    labels) are no classes, whatever they are called.
    """
    if not all(sample.ndim == 1 and sample.size >= 2 and _is_real(sample) for sample in samples):
        return False
    return any(word in name.lower() for word in _SCORE_NAMES) or all(_are_distributions(sample) for sample in samples)


def is_float(array: Array) -> bool:
    """Whether it holds real or complex numbers, those that numpy does not know by itself (``bfloat16``) included."""
    return _is_real(array) or array.dtype.kind == "c"


def _is_real(array: Array) -> bool:
    return array.dtype.kind == "f" or "float" in array.dtype.name


def _holds_scores_by_position(name: str, samples: Sequence[Array]) -> bool:
    """Whether it is a matrix [positions, classes] of scores.

    Only where every row is a distribution, or the name says logits: an argmax along a heat map's row means nothing, and along
    a detector's row of independent scores, all near 0, next to nothing.
    """
    if not all(sample.ndim == 2 and sample.shape[1] >= 2 and _is_real(sample) for sample in samples):
        return False
    if not any(sample.size for sample in samples):
        return False
    return "logit" in name.lower() or all(_are_distributions(sample) for sample in samples)


def _are_distributions(sample: Array) -> bool:
    """Whether every vector along the last axis is without negative numbers and sums to 1."""
    numbers = sample.astype(np.float64)
    return bool((numbers >= 0).all() and (np.abs(numbers.sum(axis=-1) - 1) <= _SUM_TOLERANCE).all())


def _is_pixels(array: Array) -> bool:
    """Bytes of an image, where being off by one is no other answer; masks of classes are none."""
    return array.dtype.name in ("uint8", "int8") and array.ndim >= 2 and len(np.unique(array)) > _PIXEL_VALUES

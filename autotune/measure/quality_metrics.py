"""Quality metrics: ``f(outputs, labels)``, higher is better. Those that ship, and a user's own by ``module:function``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.errors import UserError, nearest
from autotune.core.samples import Tensors
from autotune.measure.output_kinds import holds_class_scores
from autotune.user_code import user_function

__all__ = ["PER_SAMPLE", "MetricFunction", "metric_function", "scored_output"]

MetricFunction = Callable[[Tensors, Sequence[Any]], float]
Scores = NDArray[np.float64]
Array = NDArray[np.generic]


def metric_function(name: str) -> MetricFunction:
    """Return the metric of that name. ``outputs`` are stacked over samples; ``labels`` one a sample.

    Raises ``UserError``: with the nearest name when there is none, or when ``module:function`` cannot be imported.
    """
    if ":" in name:
        return user_function(name, "the metric")
    if name in PER_SAMPLE:
        per_sample = PER_SAMPLE[name]
        return lambda outputs, labels: float(np.mean(per_sample(scored_output(outputs), labels)))
    if name == "f1":
        return lambda outputs, labels: macro_f1(scored_output(outputs), labels)
    known = (*PER_SAMPLE, "f1")
    raise UserError(
        f"there is no quality metric {name!r}{nearest(name, known)}",
        f"metrics: {', '.join(known)}, or module:function taking (outputs, labels)",
    )


def scored_output(outputs: Tensors) -> Array:
    """The output that labels speak of: the first that is class scores, else the first that is no scalar, else the first."""
    arrays = {name: np.asarray(array) for name, array in outputs.items()}
    scores = (a for name, a in arrays.items() if a.ndim == 2 and holds_class_scores(name, list(a)))
    wide = (a for a in arrays.values() if a.ndim == 2 and a.shape[1] >= 2)
    return next(chain(scores, wide, arrays.values()))


def _top1(output: Array, labels: Sequence[Any]) -> Scores:
    return np.asarray(_classes(output) == np.asarray(labels).ravel(), dtype=np.float64)


def _top5(output: Array, labels: Sequence[Any]) -> Scores:
    scores = output.reshape(len(output), -1)
    best = np.argsort(-scores.astype(np.float64), axis=1, kind="stable")[:, :5]
    return np.asarray((best == np.asarray(labels).reshape(-1, 1)).any(axis=1), dtype=np.float64)


def _negated_mse(output: Array, labels: Sequence[Any]) -> Scores:
    """Squared error a sample, negated: higher is better, as everywhere."""
    expected = np.asarray(labels, dtype=np.float64).reshape(len(output), -1)
    squares = (output.astype(np.float64).reshape(len(output), -1) - expected) ** 2
    return np.asarray(-np.mean(squares, axis=1))


def _cosine(output: Array, labels: Sequence[Any]) -> Scores:
    a = output.astype(np.float64).reshape(len(output), -1)
    b = np.asarray(labels, dtype=np.float64).reshape(len(output), -1)
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.asarray(np.divide((a * b).sum(axis=1), norms, out=np.zeros(len(a)), where=norms > 0))


PER_SAMPLE: dict[str, Callable[[Array, Sequence[Any]], Scores]] = {
    "top1": _top1,
    "top5": _top5,
    "mse": _negated_mse,
    "cosine": _cosine,
}


def macro_f1(output: Array, labels: Sequence[Any]) -> float:
    """F1 of each class that occurs, averaged without weights (van Rijsbergen, "Information Retrieval", 1979)."""
    predicted, actual = _classes(output), np.asarray(labels).ravel()
    return float(np.mean([_f1(predicted == name, actual == name) for name in np.unique(actual)]))


def _f1(predicted: NDArray[np.bool_], actual: NDArray[np.bool_]) -> float:
    hits = float((predicted & actual).sum())
    return 2 * hits / float(predicted.sum() + actual.sum())


def _classes(output: Array) -> Array:
    """Predicted classes: the argmax of score vectors, or the output itself where it already is one number a sample."""
    flat = output.reshape(len(output), -1)
    if flat.shape[1] > 1:
        return np.asarray(np.argmax(flat, axis=1))
    column: Array = flat[:, 0]
    return np.asarray(column.astype(np.float64) > 0.5, dtype=np.int64) if column.dtype.kind == "f" else column

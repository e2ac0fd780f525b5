"""Holds labels against the quality metric that reads them, before any trial does."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotune.core.dataset import DataFacts
from autotune.core.errors import UserError
from autotune.core.model import ModelFacts

__all__ = ["refuse_unfit_labels"]

_CLASSES = ("top1", "top5", "f1")
_NUMBERS = ("mse", "cosine")


def refuse_unfit_labels(metric: str | None, data: DataFacts, model: ModelFacts) -> None:
    """Raise ``UserError`` unless the first label is what ``metric`` reads. A user's own metric reads what it likes."""
    if metric not in (*_CLASSES, *_NUMBERS) or not data.labels:
        return
    from autotune.data import open_dataset

    fault = _fault(metric, open_dataset(data, model).sample(0)[1])
    if fault is not None:
        expected = "one class number a sample" if metric in _CLASSES else "numbers, as many a sample as the output has"
        raise UserError(f"--metric {metric}: {fault}", f"it expects {expected}; or give --metric module:function")


def _fault(metric: str, label: Any) -> str | None:
    array = np.asarray(label)
    if array.dtype.kind not in "iubf":
        return f"the labels are {'text' if array.dtype.kind in 'USO' else array.dtype}"
    if metric in _NUMBERS:
        return None
    if array.size != 1:
        return f"each label has the shape {array.shape}"
    number = float(array.reshape(-1)[0])
    return None if number.is_integer() else f"the first label is {number:g}"

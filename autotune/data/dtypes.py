"""numpy's types by the names that ``TensorFacts`` uses, and which of them the user's arrays may be converted to."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["convertible", "numpy_dtype", "stored_as"]


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return the type; numpy lacks some (``bfloat16``, ``float8_e4m3fn``, ``int4``), which ml_dtypes adds."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        added: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return added


def convertible(found: np.dtype[Any], needed: str) -> bool:
    """Whether arrays of type ``found`` may be fed as ``needed``: within a kind (float64 as float32), or integers as floats.

    Narrowed integers are checked by value when they are read.
    """
    if needed == "str":
        return found.kind in "US"
    target = numpy_dtype(needed)
    if _added(target):
        return found == target or found.kind in ("f" if "float" in needed else "iu")
    return found.kind in "biufc" and np.can_cast(found, target, "same_kind")


def stored_as(name: str) -> str:
    """The type that files hold inputs of type ``name`` in: numpy's files know none of ml_dtypes' types."""
    if name == "str" or not _added(numpy_dtype(name)):
        return name
    return "float32" if "float" in name else "int8"


def _added(dtype: np.dtype[Any]) -> bool:
    """Whether it is ml_dtypes' own. (Its kind does not tell: that of ``float8_e5m2`` is ``f``.)"""
    return dtype.isbuiltin == 2

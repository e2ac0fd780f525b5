"""One input of one sample, made what the model takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.errors import UserError
from autotune.core.model import TensorFacts
from autotune.data.dtypes import numpy_dtype

__all__ = ["model_row"]


def model_row(found: NDArray[Any], one: TensorFacts, where: str, *, lacks_axis: bool) -> NDArray[Any]:
    """Return a copy of the model's type, with a first axis of 1 added where the sample lacks it.

    Raises ``UserError``, naming ``where``, when an integer does not fit the model's type.
    """
    if lacks_axis:
        found = found[np.newaxis]
    row = np.array(found, dtype=numpy_dtype(one.dtype), order="C")
    if found.dtype.kind in "iu" and row.dtype.kind in "iu" and not np.array_equal(row, found):
        raise UserError(
            f"{where} of {one.name!r} holds a number too large for {one.dtype}", f"store {one.name!r} as {one.dtype}"
        )
    return row

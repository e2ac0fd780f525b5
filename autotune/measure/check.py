"""The output check: nothing is timed before its output was compared with the unoptimised model's, twice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from autotune.core.errors import CheckError
from autotune.core.samples import Tensors
from autotune.measure.fidelity import cosine

__all__ = ["check_outputs"]

# relative to the output's largest magnitude: what reordering a sum in that type may change
_TOLERANCES = {"float16": 2e-2, "bfloat16": 5e-2, "float32": 1e-3, "float64": 1e-6}
_SANITY_COSINE = 0.5


def check_outputs(first: Tensors, second: Tensors, reference: Tensors, *, exact: bool) -> None:
    """Compare two runs' outputs on the same inputs with the unoptimised model's.

    ``exact``: the candidate changes nothing of the arithmetic but its order, so its outputs are close to the reference's.
    Otherwise only a sanity floor holds: quality measures the loss.
    Raises ``CheckError``: ``nan`` where the reference has none, ``wrong_output`` for anything else.
    """
    _require(sorted(first) == sorted(reference), f"outputs are {sorted(first)}, not {sorted(reference)}")
    for name, expected in reference.items():
        _check_form(name, np.asarray(first[name]), np.asarray(expected))
        for run in (first, second):
            _check_finite(name, np.asarray(run[name]), np.asarray(expected))
        _check_repeatable(name, first[name], second[name])
        _check_values(name, np.asarray(first[name]), np.asarray(expected), exact)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise CheckError("wrong_output", message)


def _check_form(name: str, found: NDArray[np.generic], expected: NDArray[np.generic]) -> None:
    _require(found.shape == expected.shape, f"output {name!r} has shape {found.shape}, not {expected.shape}")
    _require(found.dtype == expected.dtype, f"output {name!r} is {found.dtype}, not {expected.dtype}")


def _check_finite(name: str, found: NDArray[np.generic], expected: NDArray[np.generic]) -> None:
    if not _is_float(found):
        return
    lost = ~np.isfinite(found) & np.isfinite(expected)
    if lost.any():
        raise CheckError("nan", f"output {name!r}: {int(lost.sum())} of {lost.size} values are NaN or infinite")


def _check_repeatable(name: str, first: NDArray[np.generic], second: NDArray[np.generic]) -> None:
    same = _close(first, second) if _is_float(first) else np.array_equal(first, second)
    _require(same, f"output {name!r} differs from run to run on the same input")


def _check_values(name: str, found: NDArray[np.generic], expected: NDArray[np.generic], exact: bool) -> None:
    if not _is_float(found):
        _require(not exact or np.array_equal(found, expected), f"output {name!r} differs from the original's")
        return
    all_zero = found.size > 0 and not found.any() and bool(np.asarray(expected).any())
    _require(not all_zero, f"output {name!r} is all zero")
    if exact:
        _require(
            _close(found, expected), f"output {name!r} differs from the original's by {_worst(found, expected):.2g}"
        )
        return
    if found.size == 1:  # the cosine of single numbers is only their sign
        return
    alike = cosine(found, expected)
    _require(alike >= _SANITY_COSINE, f"output {name!r} has cosine {alike:.2f} to the original's")


def _is_float(array: NDArray[np.generic]) -> bool:
    return array.dtype.name in _TOLERANCES


def _close(found: NDArray[np.generic], expected: NDArray[np.generic]) -> bool:
    return _worst(found, expected) <= _TOLERANCES[found.dtype.name]


def _worst(found: NDArray[np.generic], expected: NDArray[np.generic]) -> float:
    """Largest difference between finite values, relative to the largest expected magnitude."""
    a, b = found.astype(np.float64), np.asarray(expected).astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(b)
    if not finite.any():
        return 0.0
    scale = float(np.abs(b[finite]).max()) or 1.0
    return float(np.abs(a[finite] - b[finite]).max()) / scale

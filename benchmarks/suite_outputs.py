"""Outputs held against those that the ONNX suite gives: by its own tolerances, or as a lossy candidate's may be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.samples import Tensors
from autotune.replay.standalone import flat_outputs
from benchmarks.suite_models import SuiteModel

__all__ = ["difference", "distance"]

_FAR = 0.25
"""Of the expected outputs' norm: about where the default limit lies (a cosine of 0.98 between vectors of one length is 0.2)."""


def difference(model: SuiteModel, found: Tensors) -> str:
    """The first difference, by the suite's tolerances; empty: there is none."""
    expected = _expected(model)
    if list(expected) != list(found):
        return f"outputs are {list(found)}, not {list(expected)}"
    for name, array in expected.items():
        try:
            _assert_alike(model.case, found[name], array)
        except AssertionError as error:
            return f"output {name!r}: {next((line for line in str(error).splitlines() if line.strip()), '')}"
    return ""


def distance(model: SuiteModel, found: Tensors) -> str:
    """The first output that a lossy candidate may not give: of another form, not finite, or far from the suite's.

    Empty: there is none. Lengths count, unlike with the cosine that a search goes by.
    """
    for name, array in _expected(model).items():
        if name not in found or found[name].shape != array.shape or found[name].dtype != array.dtype:
            return f"output {name!r} is missing, or of another shape or type"
        if array.dtype.kind == "f" and array.size > 1 and (apart := _apart(found[name], array)) > _FAR:
            return f"output {name!r} is {apart:.2g} of its own length away"
    return ""


def _expected(model: SuiteModel) -> Tensors:
    return flat_outputs(list(model.outputs), list(model.outputs.values()))


def _apart(found: NDArray[Any], expected: NDArray[Any]) -> float:
    finite = np.isfinite(expected)
    wanted = expected[finite].astype(np.float64)
    error = float(np.linalg.norm(found[finite].astype(np.float64) - wanted))
    return error / (float(np.linalg.norm(wanted)) or 1.0) if np.isfinite(error) else np.inf


def _assert_alike(case: Any, found: NDArray[Any], expected: NDArray[Any]) -> None:
    if expected.dtype.kind in "OUS":
        assert found.tolist() == expected.tolist(), "other strings"
        return
    assert found.dtype == expected.dtype, f"{found.dtype} instead of {expected.dtype}"
    wide = [array.astype(np.float64) if array.dtype.kind in "fV" else array for array in (found, expected)]
    np.testing.assert_allclose(*wide, rtol=case.rtol, atol=case.atol)

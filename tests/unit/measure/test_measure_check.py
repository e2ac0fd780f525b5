from __future__ import annotations

import numpy as np
import pytest

from autotune.core.errors import CheckError
from autotune.measure.check import check_outputs

REFERENCE = {"y": np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)}


def changed(**outputs: np.ndarray) -> dict[str, np.ndarray]:
    return {**REFERENCE, **outputs}


def causes_of(first, second=None, reference=REFERENCE, exact=True) -> str:
    with pytest.raises(CheckError) as caught:
        check_outputs(first, first if second is None else second, reference, exact=exact)
    return caught.value.cause


def test_equal_outputs_pass() -> None:
    check_outputs(REFERENCE, REFERENCE, REFERENCE, exact=True)


def test_rounding_passes_as_exact_and_quantisation_only_as_lossy() -> None:
    rounded, coarse = changed(y=REFERENCE["y"] * (1 + 1e-5)), changed(y=np.round(REFERENCE["y"] * 4) / 4)
    check_outputs(rounded, rounded, REFERENCE, exact=True)
    check_outputs(coarse, coarse, REFERENCE, exact=False)
    assert causes_of(coarse) == "wrong_output"


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    "outputs",
    [
        {},
        {"z": REFERENCE["y"]},
        {"y": REFERENCE["y"][:1]},
        {"y": REFERENCE["y"].astype(np.float64)},
        {"y": np.zeros_like(REFERENCE["y"])},
        {"y": -REFERENCE["y"]},
    ],
    ids=["missing", "renamed", "shape", "dtype", "zeros", "negated"],
)
def test_wrong_outputs_are_refused(outputs, exact: bool) -> None:
    assert causes_of(outputs, exact=exact) == "wrong_output"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_where_the_original_has_none_is_named(value: float) -> None:
    broken = REFERENCE["y"].copy()
    broken[0, 0] = value
    assert causes_of({"y": broken}, exact=False) == "nan"


def test_nan_where_the_original_has_it_too_passes() -> None:
    both = REFERENCE["y"].copy()
    both[0, 0] = np.nan
    check_outputs({"y": both}, {"y": both.copy()}, {"y": both}, exact=True)


def test_outputs_that_differ_from_run_to_run_are_refused() -> None:
    assert causes_of(REFERENCE, changed(y=REFERENCE["y"] + 0.1), exact=False) == "wrong_output"


def test_nan_in_the_second_run_alone_is_refused() -> None:
    broken = REFERENCE["y"].copy()
    broken[0, 0] = np.nan
    assert causes_of(REFERENCE, {"y": broken}, exact=False) == "nan"


def test_whole_numbers_and_strings_are_compared_exactly() -> None:
    labels = {"y": np.asarray([1, 2, 3]), "s": np.asarray(["a", "b"], dtype=object)}
    check_outputs(labels, labels, labels, exact=True)
    assert causes_of({**labels, "y": np.asarray([1, 2, 4])}, reference=labels) == "wrong_output"


def test_empty_outputs_pass() -> None:
    empty = {"y": np.zeros((0, 4), dtype=np.float32)}
    check_outputs(empty, empty, empty, exact=False)


def test_half_precision_is_compared_at_its_own_tolerance() -> None:
    half = {"y": REFERENCE["y"].astype(np.float16)}
    near = {"y": (half["y"] * np.float16(1.005)).astype(np.float16)}
    check_outputs(near, near, half, exact=True)


def test_a_single_number_may_change_its_sign_when_the_change_is_lossy() -> None:
    check_outputs({"y": np.float32([0.01])}, {"y": np.float32([0.01])}, {"y": np.float32([-0.01])}, exact=False)

from __future__ import annotations

import numpy as np

from autotune_backends.batches import compare_rows

A, B = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])


def compared(rows: np.ndarray, first: np.ndarray = A, second: np.ndarray = B, tolerance: float = 1e-3) -> str:
    return compare_rows({"y": rows}, {"y": first}, {"y": second}, tolerance)


def test_equal_rows_are_no_difference() -> None:
    assert compared(np.concatenate([A, B])) == ""


def test_rounding_is_no_difference() -> None:
    assert compared(np.concatenate([A, B]) * (1 + 1e-5)) == ""


def test_mixed_up_samples_are_a_difference() -> None:
    assert "differs" in compared(np.concatenate([B, A]))


def test_an_output_that_does_not_grow_has_no_batch_axis() -> None:
    assert "no batch axis" in compared(A)


def test_a_scalar_output_has_no_batch_axis() -> None:
    assert "no batch axis" in compared(np.float32(1)[()].reshape(()), np.ones(()), np.ones(()))


def test_shapes_that_depend_on_values_are_no_batch() -> None:
    assert "depends on the values" in compared(np.ones((2, 3)))


def test_integers_must_be_equal() -> None:
    first, second = np.array([[1]]), np.array([[2]])
    assert "differs" in compared(np.array([[1], [3]]), first, second, tolerance=10.0)


def test_equal_nans_are_no_difference() -> None:
    nan = np.array([[np.nan, 1.0]])
    assert compared(np.concatenate([nan, B]), nan) == ""

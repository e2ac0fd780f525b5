from __future__ import annotations

import numpy as np
import pytest

from autotune.replay.standalone import flat_outputs, open_session


def test_tensors_stay_what_they_are_and_single_numbers_become_arrays() -> None:
    array = np.ones((2, 3), np.float16)
    flat = flat_outputs(["a", "b"], [array, np.float32(2)])
    assert flat["a"] is array
    assert (flat["b"].shape, flat["b"].dtype) == ((), np.float32)


def test_a_sequence_of_maps_is_one_row_a_sample_in_the_order_of_the_keys() -> None:
    probabilities = [{1: 0.25, 0: 0.75}, {0: 0.5, 1: 0.5}]  # as scikit-learn's converters have it
    assert flat_outputs(["p"], [probabilities])["p"].tolist() == [[0.75, 0.25], [0.5, 0.5]]


def test_parts_of_one_shape_are_stacked_and_others_strung_together() -> None:
    alike, unlike = [np.zeros((2, 2)), np.ones((2, 2))], [np.zeros(2), np.ones(3)]
    flat = flat_outputs(["alike", "unlike", "none"], [alike, unlike, []])
    assert [flat[name].shape for name in ("alike", "unlike", "none")] == [(2, 2, 2), (5,), (0,)]


def test_an_optional_output_that_is_absent_is_left_out() -> None:
    assert list(flat_outputs(["y", "z"], [None, np.ones(1)])) == ["z"]


def test_another_runtime_than_it_was_measured_in_opens_nothing(tmp_path) -> None:
    with pytest.raises(RuntimeError, match="measured in mine"):
        open_session(tmp_path / "model.onnx", {"runtime": "mine"}, tmp_path)

"""Memory: samples stream, weights in files of their own stay there, and where activations lie changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from autotune.testing import onnx_models
from autotune_backends.transform.onnx import calibration, prepared


class Counted(dict):
    """A sample that counts how many of its kind are alive."""

    alive = most = 0

    def __init__(self, sample) -> None:
        super().__init__(sample)
        Counted.alive += 1
        Counted.most = max(Counted.most, Counted.alive)

    def __del__(self) -> None:
        Counted.alive -= 1


def test_samples_are_never_held_all_at_once_and_their_groups_change_nothing(workshop, digits, monkeypatch) -> None:
    whole = workshop.build(digits.path, workshop.static, digits.samples(16))
    monkeypatch.setattr(calibration, "ACTIVATION_BYTES", 0)
    streamed = workshop.build(digits.path, workshop.static, (Counted(one) for one in digits.samples(16)))
    assert streamed.sha256 == whole.sha256
    assert 0 < Counted.most <= 5


@pytest.mark.parametrize("name", ["static", "mixed", "half", "int4"])
def test_weights_in_a_file_of_their_own_stay_so(workshop, normal, tmp_path, request, name) -> None:
    if name == "int4":
        request.getfixturevalue("block_tool")
    path = onnx_models.with_external_data(tmp_path / "m.onnx", features=64, hidden=128)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    artifact = workshop.build(path, getattr(workshop, name), normal(1, 64))
    assert artifact.files == ("model.onnx", "model.onnx.data")
    assert workshop.nearness(path, artifact, normal(2, 64)[0]) > 0.98
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == before


def test_a_large_model_with_inline_weights_moves_them_out(workshop, normal, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(prepared, "EXTERNAL_ABOVE_BYTES", 0)
    path = onnx_models.mlp(tmp_path / "m.onnx", features=64, hidden=128)
    assert workshop.build(path, workshop.static, normal(1, 64)).files == ("model.onnx", "model.onnx.data")


@pytest.mark.parametrize("memory", ["pattern", "arena", "system"])
def test_where_activations_lie_changes_no_output(workshop, normal, tmp_path, memory) -> None:
    path, inputs = onnx_models.mlp(tmp_path / "m.onnx"), normal(2, 16)[0]
    found, expected = (
        workshop.run(workshop.build(path, candidate), inputs)
        for candidate in (workshop.plain.with_(memory=memory), workshop.plain)
    )
    np.testing.assert_array_equal(found["y"], expected["y"])

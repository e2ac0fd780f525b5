"""Half precision: the interface is kept, every converted model loads, and what the CPU hides is warned of."""

from __future__ import annotations

import numpy as np

from autotune.testing import onnx_cases, onnx_models


def test_half_precision_digits_keep_their_accuracy_and_their_interface(workshop, digits) -> None:
    artifact = workshop.build(digits.path, workshop.half, digits.samples(16))
    assert digits.accuracy(workshop, artifact) > 0.98
    told = artifact.changed["fp16"]
    assert told["range_checked_on"] == 16
    assert "warning" not in told
    assert artifact.size_bytes < digits.path.stat().st_size * 0.6


def test_an_overflow_that_the_cpu_hides_is_warned_of(workshop, tmp_path) -> None:
    path = onnx_cases.overflowing_half(tmp_path / "m.onnx")
    artifact = workshop.build(path, workshop.half, [{"x": np.full((1, 8), 400, np.float32)}])
    told = artifact.changed["fp16"]
    assert told["beyond_range"]["s"] == 160_000
    assert "infinite" in told["warning"]
    assert artifact.warnings == (f"warning (fp16): {told['warning']}",)
    calm = workshop.build(path, workshop.half, [{"x": np.full((1, 8), 20, np.float32)}])
    assert calm.warnings == ()


def test_ranges_are_not_claimed_to_be_checked_without_samples(workshop, tmp_path) -> None:
    told = workshop.build(onnx_models.mlp(tmp_path / "m.onnx"), workshop.half).changed["fp16"]
    assert told["range_checked_on"] == 0


def test_integers_cast_to_float_load_as_half(workshop, tmp_path) -> None:
    path = onnx_cases.int_to_float(tmp_path / "m.onnx")
    inputs = {"ids": np.arange(8, dtype=np.int64)[None]}
    assert workshop.nearness(path, workshop.build(path, workshop.half, [inputs]), inputs) > 0.999


def test_a_model_in_half_precision_already_is_copied(workshop, tmp_path) -> None:
    path = onnx_cases.half_input(tmp_path / "m.onnx")
    artifact = workshop.build(path, workshop.half)
    assert artifact.unchanged is None
    assert (artifact.folder / "model.onnx").read_bytes() == path.read_bytes()

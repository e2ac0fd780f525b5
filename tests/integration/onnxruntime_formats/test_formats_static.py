"""Static int8: calibrated on the user's samples, near the original, or refused with its reason."""

from __future__ import annotations

import numpy as np
import pytest

from autotune.api.prepare import prepare
from autotune.api.settings import SearchSettings
from autotune.core.errors import BuildError
from autotune.testing import onnx_cases, onnx_models
from autotune_backends.transform.onnx import calibration


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"int8_per_channel": False, "int8_types": "s8s8"},
        {"int8_static_operators": "products", "int8_types": "u8u8"},
        {"int8_calibration": "entropy"},
        {"int8_calibration": "percentile", "int8_reduce_range": True},
    ],
    ids=str,
)
def test_static_int8_digits_keep_their_accuracy(workshop, digits, changes) -> None:
    artifact = workshop.build(digits.path, workshop.static.with_(**changes), digits.samples(24))
    assert digits.accuracy(workshop, artifact) > 0.98
    told = artifact.changed["int8_static"]
    assert told["quantised"]["Conv"] == 4
    assert told["quantised"]["Gemm"] == 2
    assert told["calibrated_on"] == 24
    assert artifact.size_bytes < digits.path.stat().st_size / 3


def test_without_samples_it_is_a_failed_build(workshop, digits) -> None:
    with pytest.raises(BuildError, match="no calibration data"):
        workshop.build(digits.path, workshop.static)


def test_samples_of_different_lengths_calibrate(workshop, encoder) -> None:
    random = np.random.default_rng(0)
    samples = [{"ids": random.integers(0, 64, (1, length))} for length in (5, 9, 9, 3)]
    for method in calibration.METHODS:
        candidate = workshop.static.with_(int8_calibration=method, int8_static_operators="products")
        assert workshop.nearness(encoder, workshop.build(encoder, candidate, samples), samples[1]) > 0.9


def test_the_operator_set_is_raised_before_scales_for_each_channel(workshop, normal, tmp_path) -> None:
    path, samples = onnx_cases.old_opset(tmp_path / "m.onnx"), normal(1, 16)
    for per_channel, version in ((True, 13), (False, 11)):
        artifact = workshop.build(path, workshop.static.with_(int8_per_channel=per_channel), samples)
        assert artifact.changed["int8_static"]["prepare"]["opset"] == f"converted 7 → {version}"
        assert workshop.nearness(path, artifact, samples[0]) > 0.99


def test_inside_a_branch_only_it_is_said_to_change_nothing(workshop, normal, tmp_path) -> None:
    path = onnx_cases.matmul_in_branch(tmp_path / "m.onnx")
    artifact = workshop.build(path, workshop.static.with_(int8_static_operators="products"), normal(1, 4))
    assert "nothing was quantised" in (artifact.unchanged or "")
    assert artifact.sha256 == workshop.build(path, workshop.plain).sha256


def test_the_users_operators_reach_calibration(workshop, normal, tmp_path) -> None:
    library = tmp_path / "libacme.so"
    library.write_bytes(b"\x7fELF but not a library")
    with pytest.raises(BuildError, match=r"libacme\.so"):
        workshop.build(onnx_cases.custom_op(tmp_path / "m.onnx"), workshop.static, normal(1, 4), library)


@pytest.mark.parametrize(
    ("case", "shape"),
    [
        (onnx_cases.weight_as_input, (1, 4)),
        (onnx_cases.twin_names, (1, 8)),
        (onnx_cases.nonzero, (2, 4)),
        (onnx_cases.saturating, (1, 256)),
    ],
    ids=["weight as input", "twin names", "nonzero", "saturating"],
)
def test_models_that_broke_quantisers_are_quantised(workshop, normal, tmp_path, case, shape) -> None:
    path = case(tmp_path / "m.onnx")
    samples = [{"x": np.abs(one["x"])} for one in normal(*shape)]
    artifact = workshop.build(path, workshop.static, samples)
    assert artifact.changed["int8_static"]["quantised"]["MatMul"] >= 1
    assert workshop.nearness(path, artifact, samples[0]) > 0.98


def test_a_bias_that_is_a_row_does_not_stop_the_quantiser(workshop, normal, tmp_path) -> None:
    node, value, weight = onnx_models.node, onnx_models.value, onnx_models.weight
    weights = {"w": weight(0, 16, 8), "row": weight(1, 1, 8)}
    path = tmp_path / "m.onnx"
    gemm = node("Gemm", ["x", "w", "row"], ["y"])
    onnx_models.save(path, [gemm], [value("x", ["N", 16])], [value("y", ["N", 8])], weights)
    artifact = workshop.build(path, workshop.static, normal(1, 16))
    assert artifact.changed["int8_static"]["quantised"] == {"Gemm": 1}
    assert workshop.nearness(path, artifact, normal(1, 16)[0]) > 0.99


@pytest.mark.parametrize("given", [False, True], ids=["generated", "given"])
def test_a_search_calibrates_on_the_users_data_only(digits, tmp_path, given) -> None:
    data = str(digits.data) if given else None
    settings = SearchSettings(model=digits.path, data=data, output=tmp_path / "run", tracking=False)
    space = prepare(settings).search.space
    assert ("int8_static" in space.parameter("precision").choices) is given
    assert (space.experts[0]["precision"] == "int8_static") is given
    assert all(space.fault(one) is None for one in (space.baseline, space.reference, *space.experts))
    told = [one.reason for one in space.omissions if "int8_static" in one.values]
    assert bool(told) is not given

"""Weights alone in 4 or 8 bits: near the original, said where there are none, and a broken kernel is found."""

from __future__ import annotations

import logging

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from autotune.core.candidate import Candidate
from autotune.core.errors import CheckError
from autotune.measure.check import check_outputs
from autotune.testing import onnx_cases, onnx_models

pytestmark = pytest.mark.usefixtures("block_tool")


@pytest.mark.parametrize("block", [32, 64, 128])
@pytest.mark.parametrize("products", ["int8", "fp32"])
@pytest.mark.parametrize(("bits", "near"), [(4, 0.97), (8, 0.9999)])
def test_they_stay_near_the_original(workshop, normal, tmp_path, bits, near, block, products) -> None:
    path = onnx_models.mlp(tmp_path / "m.onnx", features=200, hidden=256)
    artifact = workshop.build(
        path, Candidate(precision=f"int{bits}_weights", weight_block=block, weight_products=products)
    )
    assert artifact.changed[f"int{bits}_weights"]["quantised"] == {"MatMul": 2}
    assert workshop.nearness(path, artifact, normal(3, 200)[0]) > near


def test_gemm_is_quantised_as_a_matmul(workshop, digits) -> None:
    artifact = workshop.build(digits.path, workshop.int4)
    assert artifact.changed["int4_weights"]["quantised"] == {"MatMul": 2}
    assert workshop.nearness(digits.path, artifact, digits.samples(1)[0]) > 0.95


def test_where_there_are_none_it_is_said(workshop, tmp_path) -> None:
    path = onnx_cases.overflowing_half(tmp_path / "m.onnx")
    artifact = workshop.build(path, workshop.int4)
    assert "nothing was quantised" in (artifact.unchanged or "")
    assert artifact.sha256 == workshop.build(path, workshop.plain).sha256


def test_a_mishandled_block_is_found_before_timing(workshop, normal, tmp_path) -> None:
    path, inputs = onnx_models.mlp(tmp_path / "m.onnx", features=64, hidden=64), normal(1, 64)[0]
    artifact = workshop.build(path, workshop.int4)
    file = artifact.folder / artifact.model
    model = onnx.load(file)
    for weight in model.graph.initializer:
        if "scale" in weight.name:
            weight.CopyFrom(numpy_helper.from_array(np.zeros_like(numpy_helper.to_array(weight)), weight.name))
    onnx.save(model, file)
    reference, zeros = (workshop.run(one, inputs) for one in (workshop.build(path, workshop.plain), artifact))
    with pytest.raises(CheckError):
        check_outputs(zeros, zeros, reference, exact=False)


def test_the_tool_leaves_logging_as_it_was(workshop, tmp_path, capfd) -> None:
    handlers, level = list(logging.root.handlers), logging.root.level
    workshop.build(onnx_models.mlp(tmp_path / "m.onnx"), workshop.int4)
    assert (logging.root.handlers, logging.root.level) == (handlers, level)
    assert capfd.readouterr() == ("", "")

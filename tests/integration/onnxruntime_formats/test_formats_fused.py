"""Fusion: a transformer's parts are counted, quantised as one, and nothing found is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError
from autotune.testing import onnx_models

FUSED = Candidate(precision="fp32", fusion="transformer", intra_op_threads=1)
INPUTS = {"ids": np.arange(14).reshape(2, 7)}


def test_a_transformers_parts_are_fused_and_counted(workshop, encoder) -> None:
    artifact = workshop.build(encoder, FUSED)
    told = artifact.changed["fusion"]
    assert told["fused"]["com.microsoft::Attention"] == 1
    assert told["nodes_after"] < told["nodes_before"] / 3
    expected = workshop.run(workshop.build(encoder, workshop.plain), INPUTS)["y"]
    np.testing.assert_allclose(workshop.run(artifact, INPUTS)["y"], expected, rtol=1e-4, atol=1e-4)


def test_what_was_fused_is_quantised_as_one(workshop, encoder) -> None:
    int8 = FUSED.with_(precision="int8_dynamic", int8_per_channel=True, int8_operators="matmul")
    artifact = workshop.build(encoder, int8)
    assert artifact.changed["int8_dynamic"]["quantised"] == {"Attention": 1, "MatMul": 3}
    assert workshop.nearness(encoder, artifact, INPUTS) > 0.99


def test_fusion_that_finds_nothing_is_said_and_the_model_is_as_it_was(workshop, tmp_path) -> None:
    path = onnx_models.mlp(tmp_path / "m.onnx")
    artifact = workshop.build(path, FUSED)
    assert "found no attention" in (artifact.unchanged or "")
    assert artifact.sha256 == workshop.build(path, workshop.plain).sha256


def test_fusion_that_finds_nothing_beside_a_quantiser_is_no_repeat(workshop, tmp_path) -> None:
    artifact = workshop.build(onnx_models.mlp(tmp_path / "m.onnx"), FUSED.with_(precision="int8_dynamic"))
    assert artifact.unchanged is None
    assert "found no attention" in artifact.changed["fusion"]["unchanged"]
    assert artifact.changed["int8_dynamic"]["quantised"] == {"MatMul": 2}


def test_a_tool_that_changes_the_interface_is_a_failed_build(workshop, encoder, monkeypatch) -> None:
    def renamed(path: str, **_: object):
        from onnxruntime.transformers.onnx_model import OnnxModel

        model = onnx.load(onnx_models.encoder(Path(path)))
        model.graph.output[0].name = model.graph.node[-1].output[0] = "z"
        model.graph.node.append(onnx.helper.make_node("Gelu", ["z"], ["unused"], domain="com.microsoft"))
        return OnnxModel(model)

    monkeypatch.setattr("onnxruntime.transformers.optimizer.optimize_model", renamed)
    with pytest.raises(BuildError, match="inputs or outputs"):
        workshop.build(encoder, FUSED)

"""A graph that does not fit says what would."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError
from autotune.core.model import ModelFacts
from autotune.core.workload import BUILT_IN
from autotune.models import read_model
from autotune.testing import onnx_models
from autotune_backends.simulated.devices import SimulatedDevice, device_named
from autotune_backends.simulated.graphs.prediction import predict_graph

A100 = device_named("a100-sxm")
OFFLINE = BUILT_IN["throughput"]


@pytest.fixture
def model(tmp_path: Path) -> ModelFacts:
    return read_model(onnx_models.mlp(tmp_path / "mlp.onnx", features=256, hidden=512))


def needed(model: ModelFacts, **candidate: str | int) -> float:
    """Bytes."""
    return float(predict_graph(model, A100, Candidate(**candidate), OFFLINE, 0.8)["memory"].value or 0.0)


def refused(model: ModelFacts, memory: float, **candidate: str | int) -> str:
    device: SimulatedDevice = replace(A100, memory_bytes=memory / A100.usable_share)
    with pytest.raises(BuildError) as caught:
        predict_graph(model, device, Candidate(**candidate), OFFLINE, 0.8)
    assert caught.value.cause == "out_of_memory"
    return str(caught.value)


def test_fewer_samples_or_fewer_bits_are_named(model: ModelFacts) -> None:
    said = refused(model, needed(model, precision="fp32", batch_size=32) + 1, precision="fp32", batch_size=128)
    assert said.endswith("; it fits with batch_size=32, or with precision=fp16")


def test_both_are_named_where_neither_helps_alone(model: ModelFacts) -> None:
    said = refused(model, needed(model, precision="int8", batch_size=1) + 1, precision="fp32", batch_size=2)
    assert said.endswith("; it fits with batch_size=1 precision=int8")


def test_nothing_is_named_where_nothing_fits(model: ModelFacts) -> None:
    assert "it fits" not in refused(model, 10.0, precision="fp32", batch_size=2)

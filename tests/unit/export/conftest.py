from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autotune.core.deployment import Deployment, ExportedConfig, SessionSettings
from autotune.export import ReplaySamples, exported_config
from autotune.testing.sample_search import sample_front, sample_search


@pytest.fixture
def config(tmp_path: Path) -> ExportedConfig:
    search = sample_search(tmp_path / "run")
    front = sample_front(search)
    deployment = Deployment(runtime="onnxruntime", model="model.onnx", files=("model.onnx",), session=SessionSettings())
    return exported_config(front, front.points[0], deployment, search, deployment)


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    folder = tmp_path / "artifact"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"a model")
    return folder


@pytest.fixture
def samples() -> ReplaySamples:
    inputs = tuple({"x": np.full((1, 2), index, dtype=np.float32)} for index in range(3))
    return ReplaySamples(inputs, tuple({"y": request["x"] * 2} for request in inputs))

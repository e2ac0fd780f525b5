from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autotune.core.model import ModelFacts
from autotune.core.ports import Backend
from autotune.core.samples import Tensors
from autotune.models import read_model
from autotune.testing.backend_suite import BackendSuite
from autotune.testing.onnx_models import mlp
from autotune_backends.openvino import OpenVinoBackend

pytest.importorskip("openvino", reason="the extra `openvino` is not installed")


class TestOpenVino(BackendSuite):
    @pytest.fixture
    def backend(self) -> Backend:
        return OpenVinoBackend()

    @pytest.fixture
    def model(self, tmp_path: Path) -> ModelFacts:
        return read_model(mlp(tmp_path / "mlp.onnx"))

    @pytest.fixture
    def inputs(self) -> Tensors:
        return {"x": np.random.default_rng(0).standard_normal((1, 16)).astype(np.float32)}

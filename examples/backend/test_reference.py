"""The suite that every backend passes: it says what is missing."""

# ruff: noqa: D101, D102
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from autotune_reference.backend import ReferenceBackend

from autotune.core.model import ModelFacts
from autotune.core.samples import Tensors
from autotune.models import read_model
from autotune.testing.backend_suite import BackendSuite
from autotune.testing.onnx_models import mlp


class TestReference(BackendSuite):
    @pytest.fixture
    def backend(self) -> ReferenceBackend:
        return ReferenceBackend()

    @pytest.fixture
    def model(self, tmp_path: Path) -> ModelFacts:
        return read_model(mlp(tmp_path / "mlp.onnx"))

    @pytest.fixture
    def inputs(self) -> Tensors:
        return {"x": np.random.default_rng(0).standard_normal((1, 16)).astype(np.float32)}

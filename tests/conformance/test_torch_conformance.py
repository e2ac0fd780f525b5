from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autotune.core.model import ModelFacts
from autotune.core.ports import Backend
from autotune.core.samples import Tensors
from autotune.models import read_model
from autotune.testing import pt2_programs
from autotune.testing.backend_suite import BackendSuite
from autotune_backends.torch import TorchBackend
from autotune_backends.torch import traits as torch_traits

pytest.importorskip("torch", reason="the extra `torch` is not installed", exc_type=ImportError)


class TestTorch(BackendSuite):
    """PyTorch's own kernels: compiled and exported ones take minutes (tests/integration/test_torch_kernels.py)."""

    @pytest.fixture
    def backend(self, monkeypatch: pytest.MonkeyPatch) -> Backend:
        monkeypatch.setenv("CXX", "no-such-compiler")
        monkeypatch.setattr(torch_traits, "find_spec", lambda name: None)
        return TorchBackend()

    @pytest.fixture
    def model(self, tmp_path: Path) -> ModelFacts:
        return read_model(pt2_programs.save(tmp_path / "linear.pt2"))

    @pytest.fixture
    def inputs(self) -> Tensors:
        return {"x": np.random.default_rng(0).standard_normal((1, 4)).astype(np.float32)}

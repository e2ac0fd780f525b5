"""Every way in which PyTorch computes a program gives the program's outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError
from autotune.models import read_model
from autotune.testing import pt2_programs
from autotune_backends.torch import TorchBackend

pytest.importorskip("torch", reason="the extra `torch` is not installed", exc_type=ImportError)

X = {"x": np.random.default_rng(0).standard_normal((2, 4)).astype(np.float32)}
WEIGHT, BIAS = np.arange(12, dtype=np.float32).reshape(3, 4) / 12, np.ones(3, np.float32)
KERNELS = [
    ({"kernels": "eager"}, 1e-6),
    ({"kernels": "eager", "inference_precision": "bf16"}, 2e-2),
    ({"kernels": "eager", "linear_weights": "int8"}, 2e-2),
    ({"kernels": "onnxruntime"}, 1e-6),
    ({"kernels": "onnxruntime", "precision": "int8_dynamic"}, 5e-2),
    ({"kernels": "inductor"}, 1e-6),
    ({"kernels": "inductor", "inference_precision": "bf16"}, 2e-2),
]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    found = pt2_programs.records() | {
        "data/weights/weight_0": WEIGHT.tobytes(),
        "data/weights/weight_1": BIAS.tobytes(),
    }
    return pt2_programs.save(tmp_path / "linear.pt2", found)


@pytest.mark.parametrize(("wishes", "tolerance"), KERNELS, ids=str)
def test_kernels_agree_with_the_program(
    wishes: dict[str, str], tolerance: float, program: Path, tmp_path: Path
) -> None:
    backend = TorchBackend()
    device, folder = backend.devices()[0], tmp_path / "artifact"
    folder.mkdir()
    candidate = Candidate({"runtime": "torch", "intra_op_threads": 1, **wishes})
    artifact = backend.build(read_model(program), candidate, device, folder, list)
    with backend.open(artifact, device) as session:
        found = session.outputs(X)["output"]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, X["x"] @ WEIGHT.T + BIAS, atol=tolerance)


def test_a_program_that_became_hostile_is_a_failed_build(program: Path, tmp_path: Path) -> None:
    facts = read_model(program)
    pt2_programs.save(program, pt2_programs.records() | {"data/aotinductor/model/x.so": b""})
    folder = tmp_path / "artifact"
    folder.mkdir()
    backend = TorchBackend()
    with pytest.raises(BuildError, match="could run code"):
        backend.build(facts, Candidate(runtime="torch", kernels="eager"), backend.devices()[0], folder, list)

"""A workshop for number formats: artifacts built as trials build them, opened in this process, which is much faster."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.samples import Tensors
from autotune.models import read_model
from autotune.testing import onnx_models
from autotune_backends.onnxruntime import OnnxRuntimeBackend
from autotune_backends.onnxruntime.session import open_session

DIGITS = Path(__file__).parents[3] / "examples/digits"


class Workshop:
    """Builds into folders of its own below ``place``. ``plain``: the model as it is, not optimised, one thread."""

    plain = Candidate(precision="fp32", graph_optimization="disabled", intra_op_threads=1)
    static = Candidate(precision="int8_static", int8_per_channel=True, intra_op_threads=1)
    mixed = Candidate(precision="int8_dynamic", quantised_share=0.5, intra_op_threads=1)
    half = Candidate(precision="fp16", intra_op_threads=1)
    int4 = Candidate(precision="int4_weights", weight_block=32, intra_op_threads=1)

    def __init__(self, place: Path) -> None:
        self.place = place
        self.backend = OnnxRuntimeBackend()
        self.device = self.backend.devices()[0]

    def build(
        self, path: Path, candidate: Candidate, samples: Iterable[Tensors] = (), library: Path | None = None
    ) -> Artifact:
        folder = self.place / f"artifact{len(list(self.place.glob('artifact*')))}"
        folder.mkdir()
        model = read_model(path, custom_op_library=library)
        artifact = self.backend.build(model, candidate, self.device, folder, lambda: samples, library)
        assert sorted(artifact.files) == sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*"))
        return artifact

    def run(self, artifact: Artifact, inputs: Tensors) -> Tensors:
        return open_session(artifact, self.device).outputs(inputs)

    def nearness(self, path: Path, artifact: Artifact, inputs: Tensors) -> float:
        """The smallest cosine of an output to the model's own."""
        found, expected = (self.run(one, inputs) for one in (artifact, self.build(path, self.plain)))
        return min(cosine(found[name], expected[name]) for name in expected)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


class Digits:
    """The example's classifier with its labelled images."""

    path = DIGITS / "model.onnx"
    data = DIGITS / "test.npz"

    def __init__(self) -> None:
        with np.load(self.data) as arrays:
            self.images, self.labels = arrays["image"], arrays["labels"]

    def samples(self, count: int) -> list[Tensors]:
        return [{"image": image[None]} for image in self.images[:count]]

    def accuracy(self, workshop: Workshop, artifact: Artifact) -> float:
        found = workshop.run(artifact, {"image": self.images})["logits"]
        assert found.dtype == np.float32
        return float((found.argmax(1) == self.labels).mean())


def floats(*shape: int, count: int = 8) -> list[Tensors]:
    random = np.random.default_rng(0)
    return [{"x": random.standard_normal(shape).astype(np.float32)} for _ in range(count)]


@pytest.fixture
def workshop(tmp_path):
    return Workshop(tmp_path)


@pytest.fixture(scope="session")
def digits():
    return Digits()


@pytest.fixture(scope="session")
def normal():
    """``normal(*shape, count=8)``: samples ``{"x": array}`` of normal numbers, the same again."""
    return floats


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    return onnx_models.encoder(tmp_path_factory.mktemp("encoder") / "m.onnx")


@pytest.fixture
def block_tool():
    """Skips where onnxruntime's block quantiser lacks what it needs."""
    if find_spec("onnx_ir") is None:
        pytest.skip("onnxruntime's block quantiser needs onnx-ir")

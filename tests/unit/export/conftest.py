from __future__ import annotations

import importlib.util
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotune.core.candidate import Candidate
from autotune.core.deployment import Deployment, ExportedConfig, SessionSettings
from autotune.core.device import DeviceSpec
from autotune.core.front import Point
from autotune.core.values import Value
from autotune.export import ReplaySamples, exported_config
from autotune.export.serving_formats import serving_files
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


@pytest.fixture
def h100() -> DeviceSpec:
    return DeviceSpec(name="h100-sxm", kind="simulated", device_class="gpu")


@pytest.fixture
def simulated_point() -> Point:
    """Three replicas of four devices."""
    candidate = Candidate(
        runtime="simulated",
        precision="fp8",
        kv_precision="fp8",
        tp=4,
        pp=1,
        batching="continuous",
        max_num_seqs=128,
        max_batched_tokens=8192,
        chunked_prefill=False,
        prefix_caching=True,
        page_tokens=16,
    )
    metrics = {
        "device_count": Value(value=12.0, unit="1", provenance="simulated"),
        "ttft_p90": Value(value=0.4, low=0.3, high=0.9, unit="s", provenance="simulated"),
    }
    return Point(id="t0007", trial="t0007", device="h100-sxm", candidate=candidate, metrics=metrics)


@pytest.fixture
def written(simulated_point: Point, h100: DeviceSpec) -> Callable[[str], dict[str, str]]:
    """The files of a format, by their names."""
    search = sample_search(Path("run"))
    devices = {"devices": (h100,)}
    search = search.model_copy(update={**devices, "context": search.context.model_copy(update=devices)})
    return lambda name: serving_files(sample_front(search), simulated_point, search, name)


@pytest.fixture
def parsed() -> Callable[[str], Any]:
    return _parsed


def _parsed(text: str) -> Any:
    """The text as Triton's own protocol buffers read it. (Importing tritonclient.grpc would need grpcio; its messages do not.)"""
    try:
        file = distribution("tritonclient").locate_file("tritonclient/grpc/model_config_pb2.py")
    except PackageNotFoundError:
        pytest.skip("tritonclient is not installed")
    from google.protobuf import text_format

    spec = importlib.util.spec_from_file_location("triton_model_config_pb2", str(file))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return text_format.Parse(text, module.ModelConfig())

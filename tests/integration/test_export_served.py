"""An exported batch policy runs: in Python, over HTTP from the folder alone, and against its promise."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import autotune
from autotune.core.deployment import Batching, Deployment, ExportedConfig, SessionSettings
from autotune.core.errors import UserError
from autotune.core.front import BASELINE_ID
from autotune.core.values import Value
from autotune.core.workload import Phase, Workload
from autotune.export import OriginalFiles, collect_samples, exported_config, verify, write_export
from autotune.export.live import verify_server
from autotune.host.environment import environment
from autotune.models import read_model
from autotune.testing.onnx_models import mlp
from autotune.testing.sample_search import sample_front, sample_search

POLICY = Batching(max_batch=8, delay_s=0.005, instances=2)
LOAD = Workload(
    name="w", phases=(Phase(scenario="server", rate_per_s=200, duration_s=0.5, limits=("latency_p90<=1s",)),)
)
PROMISED = {"response_p50": Value(value=1.0, unit="s", low=1e-6, high=2.0)}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("served")
    (place / "model").mkdir()
    model = mlp(place / "model" / "mlp.onnx", hidden=64, features=64)
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    batches = [({"x": np.full((1, 64), n, dtype=np.float32)}, [None]) for n in range(8)]
    samples = collect_samples(batches, lambda inputs: {"y": session.run(["y"], dict(inputs))[0]})
    original = OriginalFiles(model.parent, model.name, (model.name,))
    write_export(place / "deploy", config(place, model), model.parent, [model.name], samples=samples, original=original)
    return place / "deploy"


def config(place: Path, model: Path) -> ExportedConfig:
    search = sample_search(place / "run")
    search = search.model_copy(update={"model": search.model.model_copy(update={"sha256": read_model(model).sha256})})
    here = environment({"onnxruntime": onnxruntime.__version__})
    front = sample_front(search).model_copy(update={"environment": here, "workload": LOAD})
    settings = SessionSettings(options={"intra_op_num_threads": 1}, providers=("CPUExecutionProvider",))
    deployment = Deployment(runtime="onnxruntime", model=model.name, files=(model.name,), session=settings)
    policy = {"max_batch": POLICY.max_batch, "queue_delay_s": POLICY.delay_s, "instances": POLICY.instances}
    point = front.baseline.model_copy(
        update={
            "id": BASELINE_ID,
            "metrics": PROMISED,
            "ratios": {},
            "candidate": front.baseline.candidate.with_(**policy),
        }
    )
    return exported_config(front, point, deployment, search, deployment)


def test_the_policy_is_in_the_folder_and_load_gives_the_batcher(exported: Path) -> None:
    with autotune.load(exported) as model, model.batcher() as batcher, ThreadPoolExecutor(16) as clients:
        assert model.config.batching == POLICY
        asked = [{"x": np.full((1, 64), n, dtype=np.float32)} for n in range(16)]
        answers = list(clients.map(batcher.infer, asked))
        for inputs, answer in zip(asked, answers, strict=True):
            assert np.allclose(answer["y"], model(inputs)["y"], atol=1e-4)
        assert len(batcher._workers) == 2


@pytest.fixture
def address(exported: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    forbid = (
        "import sys; sys.modules['autotune'] = None; sys.argv = sys.argv[1:]; import runpy; sys.path.insert(0, '.');"
    )
    command = [
        sys.executable,
        "-c",
        f"{forbid} runpy.run_path('run.py', run_name='__main__')",
        "run.py",
        "--serve",
        "--port",
        str(port),
    ]
    process = subprocess.Popen(command, cwd=exported, stdout=subprocess.DEVNULL)
    try:
        _wait_until_ready(f"http://127.0.0.1:{port}/v2/health/ready", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        assert process.poll() is None
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the server did not start")


def test_the_folder_alone_serves_the_open_inference_protocol(exported: Path, address: str) -> None:
    value = {"name": "x", "shape": [1, 64], "datatype": "FP32", "data": [0.5] * 64}
    body: Any = json.dumps({"inputs": [value]}).encode()
    with urllib.request.urlopen(f"{address}/v2/models/mlp/infer", data=body, timeout=30) as answer:
        [output] = json.load(answer)["outputs"]
    expected = autotune.load(exported)({"x": np.full((1, 64), 0.5, dtype=np.float32)})["y"]
    assert np.allclose(np.asarray(output["data"]).reshape(output["shape"]), expected, atol=1e-5)


@pytest.mark.alone
def test_a_promise_under_load_is_measured_again(exported: Path) -> None:
    compared = {entry.metric: entry for entry in verify(exported, budget_s=4).compared}
    assert compared["response_p50"].found is not None
    assert compared["response_p50"].verdict == "kept"


@pytest.mark.alone
def test_a_running_server_is_verified_by_its_address(exported: Path, address: str) -> None:
    report = verify_server(exported, address, budget_s=5)
    assert {entry.metric: entry.verdict for entry in report.compared} == {"outputs": "kept", "response_p50": "kept"}
    assert "requests at 200/s" in " ".join(report.notes)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:9", "does not answer"),
        ("grpc://127.0.0.1:9", "does not answer"),
        ("ftp://127.0.0.1:9", "is no HTTP or gRPC address"),
    ],
)
def test_a_server_that_is_away_or_speaks_something_else_is_told(exported: Path, url: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        verify_server(exported, url)

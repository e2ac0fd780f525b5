"""Exported folders with real onnxruntime: run alone, loaded, verified."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from autotune.core.deployment import Deployment, ExportedConfig, SessionSettings
from autotune.core.errors import ExitCode, UserError
from autotune.core.front import BASELINE_ID
from autotune.core.samples import Tensors
from autotune.core.values import Value
from autotune.export import OriginalFiles, VerifyReport, collect_samples, exported_config, load, verify, write_export
from autotune.host.environment import environment
from autotune.models import read_model
from autotune.replay.folder import read_exported
from autotune.testing.onnx_models import mlp
from autotune.testing.sample_search import sample_front, sample_search

SETTINGS = SessionSettings(
    options={
        "graph_optimization_level": "ORT_ENABLE_ALL",
        "execution_mode": "ORT_SEQUENTIAL",
        "intra_op_num_threads": 1,
    },
    config_entries={"session.intra_op.allow_spinning": "0"},
    providers=("CPUExecutionProvider",),
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "model").mkdir()
    return mlp(tmp_path / "model" / "mlp.onnx", hidden=512, features=64)


@pytest.fixture
def exported(tmp_path: Path, model: Path) -> Path:
    """The original exported as it is, its promise being that it equals itself."""
    return write(tmp_path / "deploy", model)


def write(folder: Path, model: Path, *, samples: bool = True, original: bool = True, **promised: Value) -> Path:
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])

    def run(inputs: Tensors) -> dict[str, Any]:
        return dict(zip(["y"], session.run(["y"], dict(inputs)), strict=True))

    generator = np.random.default_rng(0)
    batches = [({"x": generator.normal(size=(1, 64)).astype(np.float32)}, [None]) for _ in range(16)]
    config = promise(folder, model, dict(promised))
    write_export(
        folder,
        config,
        model.parent,
        [model.name],
        samples=collect_samples(batches, run) if samples else None,
        original=OriginalFiles(model.parent, model.name, (model.name,)) if original else None,
    )
    return folder


def promise(folder: Path, model: Path, ratios: Mapping[str, Value]) -> ExportedConfig:
    search = sample_search(folder.parent / "run")
    facts = search.model.model_copy(update={"sha256": read_model(model).sha256})
    front = sample_front(search).model_copy(
        update={"environment": environment({"onnxruntime": onnxruntime.__version__})}
    )
    deployment = Deployment(runtime="onnxruntime", model=model.name, files=(model.name,), session=SETTINGS)
    metrics = {
        "latency_p50": Value(value=1e-5, unit="s", low=1e-6, high=1.0),
        "fidelity": Value(value=1.0, unit="1", low=1.0, high=1.0, n=16, basis="cosine"),
        "size": Value(value=float(model.stat().st_size), unit="bytes"),
    }
    point = front.baseline.model_copy(
        update={"id": "t0001" if ratios else BASELINE_ID, "metrics": metrics, "ratios": dict(ratios)}
    )
    return exported_config(front, point, deployment, search.model_copy(update={"model": facts}), deployment)


def ratio(value: float, low: float, high: float) -> Value:
    return Value(value=value, unit="1", low=low, high=high)


def change_config(folder: Path, **fields: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


def verdicts(report: VerifyReport) -> dict[str, str]:
    return {entry.metric: entry.verdict for entry in report.compared}


def run_py(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it where autotune cannot be imported."""
    program = (
        "import runpy, sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('autotune', 'pydantic', 'onnx'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "sys.argv = ['run.py', *sys.argv[2:]]\n"
        "runpy.run_path(PATH, run_name='__main__')\n"
    ).replace("PATH", repr(str(folder / "run.py")))
    return subprocess.run(
        [sys.executable, "-c", program, "-", *arguments],
        capture_output=True,
        text=True,
        cwd="/",
        check=False,
        timeout=60,
    )


def test_run_py_needs_onnxruntime_and_numpy_alone(exported: Path) -> None:
    done = run_py(exported)
    assert done.returncode == 0, done.stderr
    assert "16 samples" in done.stdout
    assert "from the original's, over all samples" in done.stdout


def test_run_py_reads_inputs_and_writes_outputs(exported: Path, model: Path, tmp_path: Path) -> None:
    inputs = np.ones((3, 64), dtype=np.float32)
    np.savez(tmp_path / "in.npz", x=inputs)
    done = run_py(exported, "--input", str(tmp_path / "in.npz"), "--output", str(tmp_path / "out.npz"))
    assert done.returncode == 0, done.stderr
    expected = onnxruntime.InferenceSession(str(model)).run(None, {"x": inputs})[0]
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], expected, rtol=1e-5)


def test_run_py_times(exported: Path) -> None:
    assert "median latency" in run_py(exported, "--time").stdout


def test_run_py_without_samples_asks_for_input(tmp_path: Path, model: Path) -> None:
    done = run_py(write(tmp_path / "deploy", model, samples=False))
    assert done.returncode == 2
    assert "--input" in done.stderr


def test_session_is_opened_with_the_options_of_the_config(exported: Path) -> None:
    from autotune.replay.standalone import session_options

    options = session_options(json.loads((exported / "config.json").read_text())["session"], exported)
    assert options.intra_op_num_threads == 1
    assert options.execution_mode == onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"


def test_loaded_model_answers_as_the_original(exported: Path, model: Path) -> None:
    inputs = {"x": np.ones((2, 64), dtype=np.float32)}
    expected = onnxruntime.InferenceSession(str(model)).run(None, inputs)[0]
    with load(exported) as deployed:
        np.testing.assert_allclose(deployed(inputs)["y"], expected, rtol=1e-5)
        assert deployed.config.model == "mlp.onnx"
        with pytest.raises(UserError, match="the model takes x"):
            deployed({"z": inputs["x"]})


def test_damaged_model_is_a_users_error(exported: Path) -> None:
    (exported / "mlp.onnx").write_bytes(b"junk")
    with pytest.raises(UserError, match="cannot be opened"):
        load(exported)


def test_unchanged_export_is_kept_side_by_side(exported: Path) -> None:
    report = verify(exported, budget_s=1)
    assert verdicts(report)["outputs"] == verdicts(report)["fidelity"] == verdicts(report)["size"] == "kept"
    latency = next(entry for entry in report.compared if entry.metric == "latency_p50")
    assert latency.how == "side by side"
    assert report.attempts >= 1


def test_other_host_is_not_judged_by_speed_but_by_quality_and_size(exported: Path) -> None:
    config = json.loads((exported / "config.json").read_text())
    change_config(exported, environment=config["environment"] | {"cpu_model": "another CPU"})
    report = verify(exported, budget_s=1)
    assert verdicts(report) == {"outputs": "kept", "fidelity": "kept", "size": "kept", "latency_p50": "another machine"}
    assert report.exit_code == ExitCode.INCONCLUSIVE
    assert report.attempts == 0


def test_replaced_weights_break_fidelity(exported: Path) -> None:
    mlp(exported / "mlp.onnx", hidden=512, features=64, seed=9)
    report = verify(exported, budget_s=1)
    assert report.verdict == "broken"
    assert "broken" in (verdicts(report)["outputs"], verdicts(report).get("fidelity"))


def test_model_that_does_not_open_is_broken_with_its_reason(exported: Path) -> None:
    (exported / "mlp.onnx").write_bytes(b"junk")
    report = verify(exported, budget_s=1)
    assert report.verdict == "broken"
    assert "does not open" in report.compared[0].reason


def test_verify_and_load_need_no_spoke_and_no_search_library(exported: Path) -> None:
    program = (
        "import sys\n"
        "from autotune.export import load, verify\n"
        f"verify({str(exported)!r}, budget_s=1)\n"
        f"load({str(exported)!r})\n"
        "found = {name.split('.')[0] for name in sys.modules}\n"
        "print(sorted(found & {'ray', 'mlflow', 'optuna', 'onnx', 'autotune_backends', 'autotune_trials'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.strip() == "[]", done.stderr


def test_original_left_out_can_be_given(tmp_path: Path, model: Path) -> None:
    folder = write(tmp_path / "deploy", model, original=False)
    alone = verify(folder, budget_s=1)
    assert "not at hand" in " ".join(alone.notes)
    assert {entry.how for entry in alone.compared if entry.metric == "latency_p50"} == {"absolute"}
    paired = verify(folder, budget_s=1, original=model)
    assert {entry.how for entry in paired.compared if entry.metric == "latency_p50"} == {"side by side"}


def test_another_model_is_refused_as_the_original(exported: Path, tmp_path: Path) -> None:
    other = mlp(tmp_path / "other.onnx", seed=5)
    with pytest.raises(UserError, match="is not the model that"):
        verify(exported, original=other)


def test_folder_without_samples_is_replayed_on_generated_inputs(tmp_path: Path, model: Path) -> None:
    folder = write(tmp_path / "deploy", model, samples=False)
    report = verify(folder, budget_s=1)
    assert verdicts(report)["outputs"] == "kept"
    assert read_exported(folder).files == ("mlp.onnx",)


def test_labelled_data_let_accuracy_be_checked(tmp_path: Path, model: Path) -> None:
    from autotune.data import open_data

    generator = np.random.default_rng(1)
    inputs = generator.normal(size=(64, 64)).astype(np.float32)
    labels = np.argmax(onnxruntime.InferenceSession(str(model)).run(None, {"x": inputs})[0], axis=1)
    np.savez(tmp_path / "data.npz", x=inputs, labels=labels)
    folder = write(tmp_path / "deploy", model)
    config = json.loads((folder / "config.json").read_text())
    config["promise"]["metrics"]["accuracy"] = {"value": 1.0, "unit": "1", "low": 1.0, "high": 1.0, "n": 64}
    sha256 = open_data(str(tmp_path / "data.npz"), read_model(model), 0).sha256
    change_config(
        folder,
        promise=config["promise"],
        quality=config["quality"] | {"name": "accuracy", "metric": "top1", "data_sha256": sha256},
    )
    without = verify(folder, budget_s=1)
    assert verdicts(without)["accuracy"] == "not compared"
    given = verify(folder, budget_s=1, data=str(tmp_path / "data.npz"))
    assert {entry.how: entry.verdict for entry in given.compared if entry.metric == "accuracy"} == {
        "on the data": "kept"
    }

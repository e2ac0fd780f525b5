"""The gate on real onnxruntime: folders, models, runs, URLs, acceptances."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from autotune.api.baselines import MissingBaseline, baseline_folder
from autotune.api.gating import GateRequest, gate
from autotune.core.candidate import Candidate
from autotune.core.deployment import Deployment, Quality, SessionSettings
from autotune.core.errors import UserError
from autotune.core.front import BASELINE_ID
from autotune.core.samples import Tensors
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN
from autotune.export import OriginalFiles, collect_samples, exported_config, verify, write_export
from autotune.gate.accepted import read_accepted
from autotune.gate.verdict import GateReport
from autotune.host.environment import environment
from autotune.models import read_model
from autotune.testing.onnx_models import embedding, mlp, node, save, value, weight
from autotune.testing.sample_search import sample_front, sample_search

SETTINGS = SessionSettings(
    options={"intra_op_num_threads": 1},
    config_entries={"session.intra_op.allow_spinning": "0"},
    providers=("CPUExecutionProvider",),
)
CANDIDATE = Candidate(runtime="onnxruntime", precision="fp32", graph_optimization="all")
SMALL, LARGE = 256, 1024


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return mlp(tmp_path / "model.onnx", hidden=SMALL, features=64)


@pytest.fixture
def baseline(tmp_path: Path, model: Path) -> Path:
    return export(tmp_path / "baseline", model)


def export(folder: Path, model: Path, *, original: bool = True, **quality: Any) -> Path:
    """The model as it is, as a deployed folder, with 32 labelled samples."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    rows = np.random.default_rng(0).normal(size=(32, 64)).astype(np.float32)
    labels = np.argmax(session.run(["y"], {"x": rows})[0], axis=1)
    batches = [({"x": row[None]}, [int(label)]) for row, label in zip(rows, labels, strict=True)]
    return export_with(folder, model, batches, original=original, **quality)


def export_with(
    folder: Path, model: Path, batches: Sequence[tuple[Tensors, list[Any]]], *, original: bool = True, **quality: Any
) -> Path:
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])

    def run(inputs: Tensors) -> Mapping[str, Any]:
        return dict(zip(["y"], session.run(["y"], dict(inputs)), strict=True))

    search = sample_search(folder.parent / "run")
    facts = search.model.model_copy(update={"sha256": read_model(model).sha256})
    here = environment({"onnxruntime": onnxruntime.__version__})
    front = sample_front(search).model_copy(update={"environment": here, "workload": BUILT_IN["latency"]})
    point = front.baseline.model_copy(
        update={"id": BASELINE_ID, "candidate": CANDIDATE, "metrics": {"latency_p50": Value(value=1e-5, unit="s")}}
    )
    deployment = Deployment(runtime="onnxruntime", model=model.name, files=(model.name,), session=SETTINGS)
    config = exported_config(front, point, deployment, search.model_copy(update={"model": facts}), deployment)
    if quality:
        told = Quality(name="accuracy", metric="top1", data_sha256="", n=32)
        config = config.model_copy(update={"quality": told.model_copy(update=quality)})
    write_export(
        folder,
        config,
        model.parent,
        [model.name],
        samples=collect_samples(batches, run),
        original=OriginalFiles(model.parent, model.name, (model.name,)) if original else None,
    )
    return folder


def quick(head: Path | str, baseline: Path | str, **options: Any) -> GateReport:
    return gate(GateRequest(str(head), str(baseline), **({"budget_s": 1.0, "max_budget_s": 2.0} | options)))


def standings(report: GateReport) -> dict[str, str]:
    return {entry.metric: entry.standing for entry in report.compared}


@pytest.mark.alone
def test_a_folder_against_itself_does_not_fail(baseline: Path) -> None:
    report = quick(baseline, baseline, budget_s=4.0, max_budget_s=8.0)
    assert report.verdict != "failed"
    assert standings(report)["fidelity"] == standings(report)["size"] == "within"
    assert report.promise == "this machine"
    latency = next(entry for entry in report.compared if entry.metric == "latency_p50")
    assert latency.head is not None
    assert latency.baseline is not None
    assert report.attempts >= 1


def test_a_model_is_built_with_the_baselines_candidate(baseline: Path, model: Path) -> None:
    report = quick(model, baseline)
    assert report.verdict != "failed"
    assert standings(report)["fidelity"] == "within"


@pytest.mark.alone
def test_a_much_slower_and_larger_model_fails(baseline: Path, tmp_path: Path) -> None:
    larger = mlp(tmp_path / "larger.onnx", hidden=LARGE * 4, features=64)
    report = quick(larger, baseline, budget_s=10.0, max_budget_s=60.0, tolerances={"size": 1000.0})
    assert report.verdict == "failed"
    assert standings(report)["latency_p50"] == "worse"
    assert report.attempts >= 2


def test_as_is_takes_the_file_and_holds_it_against_the_baselines_original(baseline: Path, tmp_path: Path) -> None:
    other = mlp(tmp_path / "other.onnx", hidden=SMALL, features=64, seed=40)
    report = quick(other, baseline, as_is=True)
    assert report.verdict == "failed"
    assert report.sentence in ("failed: outputs", "failed: fidelity")


def test_accuracy_is_compared_on_the_samples_labels(tmp_path: Path, model: Path) -> None:
    baseline = export(tmp_path / "baseline", model, name="accuracy")
    other = mlp(tmp_path / "other.onnx", hidden=SMALL, features=64, seed=40)
    report = quick(other, baseline)
    assert standings(report)["accuracy"] == "worse"
    assert standings(quick(model, baseline))["accuracy"] == "within"


def test_a_model_that_cannot_be_read_is_the_persons_mistake_and_one_that_does_not_fit_fails(
    baseline: Path, tmp_path: Path
) -> None:
    (tmp_path / "junk.onnx").write_bytes(b"junk")
    with pytest.raises(UserError):
        quick(tmp_path / "junk.onnx", baseline)
    other = mlp(tmp_path / "other.onnx", hidden=SMALL, features=32)
    report = quick(other, baseline)
    assert report.sentence == "failed: outputs"
    assert "cannot be run" in report.compared[0].reason


def test_a_baseline_that_does_not_open_leaves_the_gate_without_a_verdict(
    baseline: Path, model: Path, tmp_path: Path
) -> None:
    head = export(tmp_path / "head", model)
    (baseline / "model.onnx").write_bytes(b"junk")
    report = quick(head, baseline)
    assert report.verdict == "inconclusive"
    assert report.exit_code() == 4
    assert "the baseline" in report.compared[0].reason


def test_an_accepted_change_passes_afterwards_and_lies_in_the_baselines_folder(baseline: Path, tmp_path: Path) -> None:
    larger = mlp(tmp_path / "larger.onnx", hidden=SMALL + 16, features=64)
    options: dict[str, Any] = {"tolerances": {"latency_p50": 5.0}, "budget_s": 1.0, "max_budget_s": 2.0}
    assert standings(quick(larger, baseline, **options))["size"] == "worse"
    accepted = quick(larger, baseline, accepting={"size": "bigger vocabulary"}, **options)
    assert standings(accepted)["size"] == "accepted"
    (change,) = read_accepted(baseline).changes
    assert (change.metric, change.reason) == ("size", "bigger vocabulary")
    assert change.loss == pytest.approx(0.06, abs=0.02)
    after = quick(larger, baseline, **options)
    assert standings(after)["size"] == "within"
    assert "bigger vocabulary" in next(entry.reason for entry in after.compared if entry.metric == "size")


@pytest.mark.alone
def test_nothing_is_accepted_when_something_else_failed(baseline: Path, tmp_path: Path) -> None:
    larger = mlp(tmp_path / "larger.onnx", hidden=LARGE, features=64)
    report = quick(larger, baseline, budget_s=4.0, max_budget_s=60.0, accepting={"latency_p50": "slower"})
    assert report.verdict == "failed"
    assert not (baseline / "accepted.json").exists()


def test_a_missing_baseline_says_how_to_make_one(tmp_path: Path, model: Path) -> None:
    with pytest.raises(MissingBaseline) as caught:
        quick(model, tmp_path / "none")
    assert "autotune export" in caught.value.remedy


def test_a_baseline_is_fetched_from_a_url_as_a_folder_and_as_an_archive(baseline: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.put(str(baseline), "/team/baseline", recursive=True)
    archive = shutil.make_archive(str(baseline), "gztar", baseline.parent, baseline.name)
    files.put(archive, "/team/baseline.tar.gz")
    for url in ("memory://team/baseline", "memory://team/baseline.tar.gz"):
        with baseline_folder(url) as folder:
            assert (folder / "config.json").read_bytes() == (baseline / "config.json").read_bytes()
            assert (folder / "model.onnx").is_file()
    with pytest.raises(MissingBaseline), baseline_folder("memory://team/none.zip"):
        pass


def test_what_is_fetched_cannot_be_accepted_into(baseline: Path, model: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").put(str(baseline), "/other/baseline", recursive=True)
    with pytest.raises(UserError, match="--accept"):
        quick(model, "memory://other/baseline", accepting={"size": "meant"})


def test_the_gate_imports_neither_ray_nor_mlflow_nor_optuna(baseline: Path, model: Path, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from autotune.cli.main import run\n"
        "try:\n"
        f"    run(['gate', {str(model)!r}, '--baseline', {str(baseline)!r}, '--budget', '2s', '--max-budget', '2s',\n"
        f"         '--report', {str(tmp_path / 'gate.json')!r}])\n"
        "except SystemExit as done:\n"
        "    code = done.code\n"
        "found = {name.partition('.')[0] for name in sys.modules} & {'ray', 'mlflow', 'optuna', 'fsspec'}\n"
        "print('imported', sorted(found), code)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith("imported []"), done.stderr
    assert json.loads((tmp_path / "gate.json").read_text())["schema"] == "autotune/gate/1"


REFUSED: dict[str, tuple[Callable[[Path], dict[str, Any]], str]] = {
    "no such head": (lambda place: {"head": place / "none.onnx"}, "does not exist"),
    "a head that is no export": (lambda place: {"head": place}, "no exported folder"),
    "junk as the head": (lambda place: {"head": _junk(place / "junk.onnx")}, "junk.onnx"),
    "no such data": (lambda place: {"data": str(place / "none.npz")}, "none.npz"),
    "damaged samples": (lambda place: {"spoil": "samples.npz"}, "is damaged"),
    "a damaged config": (lambda place: {"spoil": "config.json"}, "config.json"),
    "damaged acceptances": (lambda place: {"spoil": "accepted.json"}, "accepted.json"),
    "a metric that is only simulated": (lambda place: {"tolerances": {"ttft_p50": 0.1}}, "simulated"),
}


@pytest.mark.parametrize(("made", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_refused_before_anything_runs(
    baseline: Path, model: Path, tmp_path: Path, made: Callable[[Path], dict[str, Any]], words: str
) -> None:
    options = made(tmp_path)
    if "spoil" in options:
        _junk(baseline / options.pop("spoil"))
    begun: list[bool] = []
    request = GateRequest(str(options.pop("head", model)), str(baseline), **options)
    with pytest.raises(UserError) as refused:
        gate(request, begin=lambda: begun.append(True))
    assert words in refused.value.problem
    assert not begun


def test_a_run_and_a_folder_are_not_compared(baseline: Path, model: Path, tmp_path: Path) -> None:
    run = tmp_path / "a-run"
    run.mkdir()
    (run / "search.json").write_text("{}")
    for head, against in ((run, baseline), (model, run)):
        with pytest.raises(UserError, match="is a run") as refused:
            quick(head, against)
        assert ":knee" in refused.value.remedy


def test_a_baseline_under_load_is_gated_under_load(tmp_path: Path, model: Path) -> None:
    baseline = export(tmp_path / "baseline", model)
    config = json.loads((baseline / "config.json").read_text())
    config["promise"]["workload"] = {"name": "w", "phases": [{"scenario": "server", "rate_per_s": 200}]}
    (baseline / "config.json").write_text(json.dumps(config))
    report = quick(model, baseline, budget_s=2.0, max_budget_s=2.0)
    assert report.verdict != "failed"
    assert {"latency_p50", "request_rate"} <= set(standings(report))


def test_a_model_without_inputs_is_verified_and_gated(tmp_path: Path) -> None:
    weights = {"a": weight(0, 2, 3), "b": weight(1, 2, 3)}
    constant = save(
        tmp_path / "constant.onnx", [node("Add", ["a", "b"], ["y"])], [], [value("y", [2, 3])], weights, opset=17
    )
    baseline = export_with(tmp_path / "baseline", constant, [({}, [None])] * 4)
    verified = {entry.metric: entry.verdict for entry in verify(baseline, budget_s=1.0).compared}
    assert verified["outputs"] == "kept"
    report = quick(constant, baseline)
    assert report.verdict != "failed"
    assert standings(report)["fidelity"] == "within"


def test_a_load_that_mixes_sizes_is_verified_and_gated(tmp_path: Path) -> None:
    model = embedding(tmp_path / "model.onnx")
    asked = [({"ids": np.full((1, 4), number, dtype=np.int64)}, [None]) for number in range(4)]
    baseline = export_with(tmp_path / "baseline", model, asked)
    config = json.loads((baseline / "config.json").read_text())
    shapes = [{"dims": {"seq": size}} for size in (4, 12)]
    config["promise"]["workload"] = {"name": "w", "phases": [{"scenario": "single_stream", "shapes": shapes}]}
    (baseline / "config.json").write_text(json.dumps(config))
    verified = {entry.metric: entry for entry in verify(baseline, budget_s=1.0).compared}
    assert verified["latency_p50"].how == "side by side"
    assert "latency_p50" in standings(quick(model, baseline))
    config["promise"]["workload"]["phases"][0]["shapes"][0]["dims"] = {"gone": 4}
    (baseline / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="does not name"):
        quick(model, baseline)


def _junk(file: Path) -> Path:
    file.write_bytes(b"junk")
    return file

"""A search of an ONNX graph on devices that are not here, with the real command: from a file to a front."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autotune.api.gating import GateRequest, gate
from autotune.testing import onnx_models


def autotune(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autotune", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("priced")
    onnx_models.encoder(folder / "model.onnx")
    options = ["--device", "a100", "--device", "snapdragon-8gen3", "--dim", "seq=16", "--trials", "6", "-o", "run"]
    done = autotune("search", "model.onnx", *options, "--executor", "process", "--no-tracking", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, " ".join(done.stdout.split())


def test_the_front_is_simulated_and_its_quality_unknown(searched: tuple[Path, str]) -> None:
    front = json.loads((searched[0] / "run" / "front.json").read_text())
    assert front["kind"] == "simulated"
    found = {(name, value["provenance"]) for point in front["points"] for name, value in point["metrics"].items()}
    assert {source for name, source in found if name != "lead_time"} == {"simulated"}
    assert all(point["metrics"]["fidelity"]["value"] is None for point in front["points"])
    assert {point["device"] for point in front["points"]} <= {"a100-sxm", "snapdragon-8gen3"}


def test_the_answer_names_the_device_and_what_is_unknown(searched: tuple[Path, str]) -> None:
    _, said = searched
    assert "simulated, not measured, and what its format loses in quality is unknown" in said
    assert "a100-sxm, precision=fp32 batch_size=1" in said
    assert "autotune export" not in said


def test_a_priced_point_is_not_exported(searched: tuple[Path, str]) -> None:
    done = autotune("export", "run", "-o", "deploy", cwd=searched[0])
    assert done.returncode == 2
    assert "nothing was built that could be exported" in done.stderr


def test_a_priced_point_is_a_baseline_that_is_computed_again(searched: tuple[Path, str]) -> None:
    folder, _ = searched
    baseline = f"{folder / 'run'}:baseline"
    same = gate(GateRequest(str(folder / "model.onnx"), baseline))
    assert same.verdict == "passed"
    assert {entry.loss.value for entry in same.compared if entry.loss is not None} == {0.0}
    wider = onnx_models.encoder(folder / "wider.onnx", width=512)
    assert gate(GateRequest(str(wider), baseline)).verdict == "failed"

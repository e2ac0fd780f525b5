"""The example repository's workflow steps, run as plain shell where their files are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "ci"
DIGITS = ROOT / "examples" / "digits"


def steps(workflow: str, job: str) -> dict[str, str]:
    """The shell of each step but the installation: autotune is installed here."""
    read = yaml.safe_load((EXAMPLE / ".github" / "workflows" / workflow).read_text())
    named = {step["name"]: step["run"] for step in read["jobs"][job]["steps"] if "run" in step}
    assert named.pop("Install")
    return named


def shell(script: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """As GitHub runs a step: ``bash -e``, stopping at the first command that fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "GITHUB_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    quick = {"SEARCH_BUDGET": "10s", "GATE_BUDGET": "2s", "GATE_MAX_BUDGET": "4s"}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=cwd,
        env=kept | quick | {"PATH": path, "COLUMNS": "100"} | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("repository") / "repository"
    shutil.copytree(EXAMPLE, place)
    shutil.copyfile(DIGITS / "model.onnx", place / "model.onnx")
    shutil.copyfile(DIGITS / "test.npz", place / "data.npz")
    return place


@pytest.fixture(scope="module")
def with_baseline(repository: Path) -> Path:
    """After the baseline workflow, the first time."""
    for name, script in steps("baseline.yml", "baseline").items():
        done = shell(script, repository)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
    return repository


def test_the_first_run_passes_without_a_baseline_and_says_how_to_make_one(repository: Path) -> None:
    summary = repository / "summary.md"
    done = shell(steps("gate.yml", "gate")["Gate"], repository, GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 0, done.stderr
    assert "first run" in done.stdout
    assert "autotune export" in summary.read_text()
    summary.unlink()


def test_the_baseline_workflow_leaves_a_deployed_folder(with_baseline: Path) -> None:
    assert (with_baseline / "baseline" / "config.json").is_file()
    assert not (with_baseline / "fresh").exists()


def test_an_unchanged_model_does_not_fail(with_baseline: Path) -> None:
    summary = with_baseline / "summary.md"
    done = shell(steps("gate.yml", "gate")["Gate"], with_baseline, GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode in (0, 4), done.stdout + done.stderr  # 4: a machine too busy to tell
    report = json.loads((with_baseline / "gate.json").read_text())
    assert {entry["metric"]: entry["standing"] for entry in report["compared"]}["accuracy"] == "within"
    assert "| accuracy |" in summary.read_text()


def test_a_broken_model_is_red_on_github_on_gitlab_and_before_a_push(with_baseline: Path, tmp_path: Path) -> None:
    broken = tmp_path / "repository"
    shutil.copytree(with_baseline, broken)
    forget(broken / "model.onnx")
    gitlab = yaml.safe_load((EXAMPLE / ".gitlab-ci.yml").read_text())["gate"]
    hook = yaml.safe_load((EXAMPLE / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"][0]
    for script in (steps("gate.yml", "gate")["Gate"], "\n".join(gitlab["script"]), hook["entry"]):
        done = shell(script, broken)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "accuracy" in done.stdout.splitlines()[0]
    assert gitlab["allow_failure"]["exit_codes"] == 4
    assert (broken / "gate.xml").read_text().count("<failure") >= 1


def test_a_red_run_never_becomes_the_baseline(with_baseline: Path, tmp_path: Path) -> None:
    red = tmp_path / "repository"
    shutil.copytree(with_baseline, red)
    shutil.copytree(red / "baseline", red / "fresh")
    config = json.loads((red / "fresh" / "config.json").read_text())
    forget(red / "fresh" / config["model"])
    before = (red / "baseline" / config["model"]).read_bytes()
    after_search = list(steps("baseline.yml", "baseline").items())[1:]
    codes = []
    for _, script in after_search:
        codes.append(shell(script, red).returncode)
        if codes[-1]:
            break
    assert codes == [1]
    assert (red / "baseline" / config["model"]).read_bytes() == before


def test_the_gates_requirements_are_those_of_the_distribution() -> None:
    declared = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
    lines = (EXAMPLE / "requirements-gate.txt").read_text().splitlines()
    wanted = {line for line in lines if line and not line.startswith("#")}
    assert wanted < declared
    assert not any(line.startswith(("ray", "mlflow", "optuna")) for line in wanted)


def test_the_action_runs_the_gate_with_its_inputs(with_baseline: Path, tmp_path: Path) -> None:
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    step = next(step for step in action["runs"]["steps"] if step.get("id") == "gate")
    assert {text.removeprefix("${{ inputs.").removesuffix(" }}") for text in step["env"].values()} <= set(
        action["inputs"]
    )
    given = {name: str(action["inputs"][text[11:-3]].get("default", "")) for name, text in step["env"].items()}
    given |= {"MODEL": "model.onnx", "BASELINE": "baseline", "DATA": "data.npz", "BUDGET": "2s", "MAX_BUDGET": "2s"}
    given |= {"TOLERANCES": "latency_p50=90%\nthroughput=80%\n", "GITHUB_OUTPUT": str(tmp_path / "output")}
    done = shell(step["run"], with_baseline, **given)
    report = json.loads((with_baseline / "autotune-gate" / "gate.json").read_text())
    assert done.returncode in (0, 4), done.stdout + done.stderr
    assert (tmp_path / "output").read_text().strip() == f"verdict={report['verdict']}"
    assert {entry["metric"]: entry["tolerance"] for entry in report["compared"]}["latency_p50"] == 0.9


def forget(model: Path) -> None:
    """Turn the sign of the last layer's weights: the same cost, other answers."""
    import onnx
    from onnx import numpy_helper

    loaded = onnx.load(model)
    used = next(node for node in reversed(loaded.graph.node) if len(node.input) > 1)
    for tensor in loaded.graph.initializer:
        if tensor.name in used.input and len(tensor.dims) > 1:
            turned = -numpy_helper.to_array(tensor) if tensor.data_type == onnx.TensorProto.FLOAT else None
            if turned is not None:
                tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(turned), tensor.name))
                onnx.save(loaded, model)
                return
    floats = [one for one in loaded.graph.initializer if one.data_type == onnx.TensorProto.FLOAT and len(one.dims) > 1]
    target = floats[-1] if floats else max(loaded.graph.initializer, key=lambda one: len(one.raw_data))
    array = numpy_helper.to_array(target)
    target.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array[::-1]), target.name))
    onnx.save(loaded, model)

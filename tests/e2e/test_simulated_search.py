"""A simulated search with the real command: from a name to a front, resumed, in workers that serve many trials."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autotune.api.gating import GateRequest, gate
from autotune.core.errors import UserError


def autotune(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autotune", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated")
    options = ["--device", "a100-sxm", "--device", "l4", "--rate", "20/s", "--trials", "8", "-o", "run"]
    options += ["--executor", "process", "--no-tracking"]
    done = autotune("search", "llama-3.1-8b", *options, "--limit", "ttft_p90<=2s", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_language_model_is_searched_on_devices_that_are_not_here(searched: Path) -> None:
    front = json.loads((searched / "run" / "front.json").read_text())
    assert front["kind"] == "simulated"
    for point in front["points"]:
        sources = {name: value["provenance"] for name, value in point["metrics"].items()}
        assert sources.pop("fidelity", "published") == "published"
        assert sources.pop("lead_time", "estimated") == "estimated"
        assert set(sources.values()) == {"simulated"}
        assert point["metrics"]["ttft_p90"]["high"] <= 2.0
        assert point["artifact"] is None


def test_nothing_is_measured_twice_or_paired(searched: Path) -> None:
    trials = [json.loads(line)["trial"] for line in (searched / "run" / "journal.jsonl").read_text().splitlines()[1:]]
    assert {trial["purpose"] for trial in trials} == {"baseline", "search"}
    assert len({trial["key"] for trial in trials}) == len(trials) == 8


def test_the_answer_says_how_many_of_what_and_what_they_cost(searched: Path) -> None:
    said = " ".join(autotune("front", "run", cwd=searched).stdout.split())
    assert "to serve 20 requests a second" in said
    assert "USD a month" in said
    assert "simulated" in said


def test_a_simulated_search_goes_on_where_it_stood(searched: Path) -> None:
    before = (searched / "run" / "journal.jsonl").read_text()
    done = autotune("search", "--resume", "run", "-q", cwd=searched)
    assert done.returncode == 0, done.stderr
    assert (searched / "run" / "journal.jsonl").read_text() == before


def test_an_unknown_model_is_one_line_with_the_nearest_name(tmp_path: Path) -> None:
    done = autotune("search", "lama-3.1-8b", "--device", "a100-sxm", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'llama-3.1-8b'" in done.stderr


def test_what_is_simulated_is_never_said_to_be_measured(searched: Path) -> None:
    said = " ".join(autotune("front", "run", cwd=searched).stdout.split())
    assert "side by side" not in said
    assert "95 %" not in said
    assert "All of it is simulated" in said


def test_a_simulated_point_is_exported_for_those_who_serve_it(searched: Path) -> None:
    done = autotune("export", "run", "--format", "kubernetes", "-o", "deploy", cwd=searched)
    assert done.returncode == 0, done.stderr
    assert {file.name for file in (searched / "deploy").iterdir()} == {"deployment.yaml", "promise.json", "README.md"}
    assert autotune("export", "run", "-o", "other", cwd=searched).returncode == 2


def test_the_measurement_that_would_help_most_is_named_with_its_row(searched: Path) -> None:
    done = autotune("simulate", "--next-measurement", "run", "--json", cwd=searched)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == "autotune/next-measurement/1"
    assert found["found"]["wrong_after"] <= found["found"]["wrong_now"]
    assert bool(found["row"]) == (found["found"]["trial"] is not None)
    said = autotune("simulate", "--next-measurement", "run", cwd=searched).stdout
    assert said.startswith(("Measure t0", "No single measurement"))


def test_a_simulated_baseline_is_simulated_again_and_compared_exactly(searched: Path) -> None:
    baseline = f"{searched / 'run'}:knee"
    same = gate(GateRequest("llama-3.1-8b", baseline))
    assert (same.verdict, same.attempts, same.machine) == ("passed", 0, None)
    assert {entry.loss.value for entry in same.compared if entry.loss is not None} == {0.0}
    judged = {entry.metric for entry in same.compared if entry.standing == "within"}
    assert judged == {"ttft_p90", "tpot_p50", "cost_per_month", "energy_per_token"}
    assert gate(GateRequest(baseline, baseline)).verdict == "passed"
    larger = gate(GateRequest("llama-3.1-70b", baseline))
    assert larger.verdict == "failed"
    assert larger.exit_code() == 1


def test_the_folder_that_configures_a_server_is_a_baseline_too(searched: Path) -> None:
    done = autotune("export", "run", "--point", "knee", "--format", "kubernetes", "-o", "server", cwd=searched)
    assert done.returncode == 0, done.stderr
    command = ["gate", "llama-3.1-8b", "--baseline", "server", "--tolerance", "ttft_p50=0%", "--report", "gate.json"]
    done = autotune(*command, cwd=searched)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((searched / "gate.json").read_text())
    assert {one["metric"]: one["standing"] for one in report["compared"]}["ttft_p50"] == "within"
    done = autotune("gate", "server", "--baseline", "server", cwd=searched)
    assert done.returncode == 2
    assert "does not say what model" in done.stderr


@pytest.mark.parametrize(
    ("head", "options", "words"),
    [
        ("model.onnx", {}, "would be measured"),
        ("llama-3.1-8b", {"accepting": {"ttft_p90": "meant"}}, "--accept"),
        ("llama-3.1-8b", {"tolerances": {"fidelity_": 0.1}}, "does not know"),
        ("lama-3.1-8b", {}, "did you mean 'llama-3.1-8b'"),
    ],
)
def test_what_cannot_be_compared_with_a_simulated_baseline_is_refused(
    searched: Path, head: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError, match=words):
        gate(GateRequest(head, f"{searched / 'run'}:knee", **options))

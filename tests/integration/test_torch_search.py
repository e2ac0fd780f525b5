"""An exported program through the whole path: search → front → export → verify, and what runs without autotune."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `torch` is not installed", exc_type=ImportError)
pytest.importorskip("onnxscript", reason="the extra `torch` is not installed", exc_type=ImportError)

MAKE = """
import sys, torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.Linear(16, 10)

    def forward(self, image):
        return {"logits": self.second(torch.relu(self.first(image)).mean((2, 3)))}

axes = {"image": {0: torch.export.Dim("batch", min=1, max=16)}}
torch.export.save(torch.export.export(Net().eval(), (torch.zeros(2, 3, 32, 32),), dynamic_shapes=axes), sys.argv[1])
"""
SPACE = """
base: torch
set: {kernels: [eager, onnxruntime], precision: fp32}
drop: [inference_precision, linear_weights, channels_last]
"""
ALONE = """
import runpy, sys
sys.argv = sys.argv[1:]
before = set(sys.modules)
runpy.run_path(sys.argv[0], run_name="__main__")
used = {name.partition(".")[0] for name in set(sys.modules) - before}
sys.exit(",".join(used & {"autotune", "pydantic", "ray", "mlflow", "optuna", "scipy"}))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    run(folder, "-c", MAKE, "model.pt2")
    (folder / "space.yaml").write_text(SPACE)
    asked = ["--space", "space.yaml", "--trials", "4", "--budget", "120s", "--executor", "process", "--no-tracking"]
    autotune(folder, "search", "model.pt2", *asked, "--workload", "latency", "-o", "run", "-q")
    return folder


def test_the_front_holds_the_program_against_itself_in_pytorchs_own_kernels(place: Path) -> None:
    front = json.loads((place / "run" / "front.json").read_text())
    assert front["baseline"]["candidate"]["kernels"] == "eager"
    assert front["baseline"]["metrics"]["fidelity"]["value"] == pytest.approx(1.0, abs=1e-4)
    records = [json.loads(line) for line in (place / "run" / "journal.jsonl").read_text().splitlines()[1:]]
    measured = {one["trial"]["candidate"]["kernels"] for one in records if "measurement" in one["outcome"]}
    assert measured == {"eager", "onnxruntime"}


@pytest.mark.parametrize(("point", "runtime"), [("baseline", "torch"), ("fastest", "onnxruntime")])
def test_a_point_runs_alone_and_its_promise_is_kept(place: Path, point: str, runtime: str) -> None:
    autotune(place, "export", "run", "--point", point, "-o", point)
    config = json.loads((place / point / "config.json").read_text())
    assert config["session"]["runtime"] == runtime
    run(place, "-c", ALONE, f"{point}/run.py")
    # what it says of speed depends on who else uses the machine; what it says of the files and the outputs does not
    report = json.loads(autotune(place, "verify", point, "--json", "--budget", "10s", codes=(0, 1, 4)))
    verdicts = {entry["metric"]: entry["verdict"] for entry in report["compared"]}
    assert {verdicts["outputs"], verdicts["fidelity"], verdicts["size"]} == {"kept"}


def autotune(folder: Path, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
    return run(folder, "-m", "autotune", *arguments, codes=codes)


def run(folder: Path, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode in codes, done.stderr[-3000:] + done.stdout[-1000:]
    return done.stdout

"""Image folders, loader functions and mixtures of shapes, through the console script as a user calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from autotune.testing import onnx_models

SCRIPT = Path(sys.executable).parent / "autotune"
QUICK = ["--trials", "2", "--budget", "10s", "--executor", "process", "--no-tracking", "-q"]


def autotune(*arguments: str, cwd: Path, code: int = 0) -> str:
    environment = {**os.environ, "COLUMNS": "120", "XDG_CACHE_HOME": str(cwd / "cache")}
    done = subprocess.run(
        [str(SCRIPT), *arguments], cwd=cwd, capture_output=True, text=True, timeout=120, env=environment, check=False
    )
    assert done.returncode == code, done.stderr[-3000:] + done.stdout[-3000:]
    return done.stdout + done.stderr


def read(file: Path) -> dict:
    return json.loads(file.read_text())


@pytest.fixture
def place(tmp_path: Path) -> Path:
    onnx_models.conv_net(tmp_path / "conv.onnx")
    onnx_models.mlp(tmp_path / "mlp.onnx", features=4, classes=3)
    onnx_models.embedding(tmp_path / "text.onnx")
    return tmp_path


def test_an_image_folder_with_classes_gives_accuracy(place: Path) -> None:
    random = np.random.default_rng(0)
    for number in range(40):
        folder = place / "images" / ("cat", "dog")[number % 2]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = random.integers(0, 256, (12, 16), np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    steps = "resize=10 crop=8x8 mean=0.5 std=0.25"
    autotune("search", "conv.onnx", "--data", "images", "--preprocess", steps, *QUICK, "-o", "run", cwd=place)
    front, search = read(place / "run" / "front.json"), read(place / "run" / "search.json")
    assert front["quality"] == "accuracy"
    assert front["baseline"]["metrics"]["accuracy"]["value"] is not None
    assert (search["data"]["preprocess"], search["data"]["count"], search["metric"]) == (steps, 40, "top1")


MINE = """
import numpy as np

def load():
    random = np.random.default_rng(7)
    for number in range(40):
        yield {"x": random.normal(size=4)}, number % 3

def agreement(outputs, labels):
    return float(np.mean(outputs["y"].argmax(axis=1) == np.asarray(labels)))
"""


def test_a_loader_and_a_metric_of_the_users_are_found_in_the_current_folder(place: Path) -> None:
    (place / "mine.py").write_text(MINE)
    options = ["--data", "mine:load", "--metric", "mine:agreement"]
    autotune("search", "mlp.onnx", *options, *QUICK, "-o", "run", cwd=place)
    front, search = read(place / "run" / "front.json"), read(place / "run" / "search.json")
    assert "mine:agreement on" in front["baseline"]["metrics"]["accuracy"]["basis"]
    assert search["data"]["loader"] == "mine:load"
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    autotune("search", "--resume", str(place / "run"), "-q", cwd=elsewhere)
    (place / "mine.py").write_text(MINE.replace("default_rng(7)", "default_rng(8)"))
    told = autotune("search", "--resume", str(place / "run"), "-q", cwd=elsewhere, code=2)
    assert "changed since the search began" in told


def test_a_metric_that_fails_is_told_in_two_lines(place: Path) -> None:
    (place / "mine.py").write_text(MINE.replace('outputs["y"]', 'outputs["z"]'))
    options = ["--data", "mine:load", "--metric", "mine:agreement"]
    told = autotune("search", "mlp.onnx", *options, *QUICK, "-o", "run", cwd=place, code=2)
    assert "the metric mine:agreement fails on the original's outputs: KeyError: 'z'" in told
    assert len(told.strip().splitlines()) <= 2


def test_sizes_are_mixed_and_told_one_by_one(place: Path) -> None:
    out = autotune("search", "text.onnx", "--dim", "seq=16,256", *QUICK, "-o", "run", cwd=place)
    front = read(place / "run" / "front.json")
    for name in ("latency_p50", "throughput"):
        assert set(front["baseline"]["metrics"][name]["parts"]) == {"seq=16", "seq=256"}
    assert "by shape" in out
    assert "seq=256" in out

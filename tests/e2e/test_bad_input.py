"""Mistakes a person makes: a message of at most two lines, exit 2, nothing half-written, before any trial."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from autotune.testing import onnx_models

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mistakes")
    whole = (EXAMPLE / "model.onnx").read_bytes()
    (folder / "truncated.onnx").write_bytes(whole[: len(whole) // 2])
    (folder / "noise.onnx").write_bytes(np.random.default_rng(0).bytes(5000))
    (folder / "text.onnx").write_text("hello\n")
    (folder / "model.onnx").write_bytes(whole)
    onnx_models.with_external_data(folder / "external.onnx")
    for file in folder.glob("external*"):
        if file.suffix != ".onnx":
            file.unlink()
    np.savez(folder / "wrong_name.npz", picture=np.zeros((40, 1, 8, 8), np.float32))
    np.savez(folder / "empty.npz")
    (folder / "broken.npz").write_bytes(b"PK\x03\x04 not a zip")
    (folder / "full").mkdir()
    (folder / "full" / "notes.txt").write_text("mine\n")
    (folder / "space.yaml").write_text("bse: onnx\n")
    return folder


MISTAKES = {
    "missing model": (["nope.onnx"], "nope.onnx"),
    "truncated model": (["truncated.onnx"], "truncated.onnx"),
    "random bytes": (["noise.onnx"], "noise.onnx"),
    "a text file": (["text.onnx"], "text.onnx"),
    "a folder": (["."], ""),
    "missing external data": (["external.onnx"], "external"),
    "data of another name": (["model.onnx", "--data", "wrong_name.npz"], "picture"),
    "data without arrays": (["model.onnx", "--data", "empty.npz"], "empty.npz"),
    "damaged data": (["model.onnx", "--data", "broken.npz"], "broken.npz"),
    "missing data": (["model.onnx", "--data", "nope.npz"], "nope.npz"),
    "steps without images": (["model.onnx", "--preprocess", "crop=8"], "--data"),
    "a loader that is not there": (["model.onnx", "--data", "nowhere:load"], "nowhere"),
    "a dimension in two places": (["model.onnx", "--dim", "seq=4", "--dim", "seq=8"], "seq"),
    "unknown metric": (["model.onnx", "--data", str(EXAMPLE / "test.npz"), "--metric", "top2"], "top"),
    "metric without labels": (["model.onnx", "--metric", "top1"], "labels"),
    "unknown objective": (["model.onnx", "--objective", "latncy_p50"], "latency_p50"),
    "unreadable limit": (["model.onnx", "--limit", "latency_p50=5ms"], "latency_p50=5ms"),
    "limit of another unit": (["model.onnx", "--limit", "latency_p50<=5MB"], "5MB"),
    "budget 4x": (["model.onnx", "--budget", "4x"], "4x"),
    "budget 0": (["model.onnx", "--budget", "0s"], "0s"),
    "budget beyond all time": (["model.onnx", "--budget", "9" * 400 + "d"], "budget"),
    "limit beyond all numbers": (["model.onnx", "--limit", "memory<=1e999GB"], "1e999GB"),
    "negative seed": (["model.onnx", "--seed", "-1"], "seed"),
    "dimension beyond all sizes": (["model.onnx", "--dim", "N=99999999999999999999"], "N="),
    "negative trials": (["model.onnx", "--trials", "0"], "trials"),
    "occupied folder": (["model.onnx", "-o", "full"], "full"),
    "folder under a file": (["model.onnx", "-o", "space.yaml/run"], "space.yaml"),
    "unknown space": (["model.onnx", "--space", "onxn"], "onnx"),
    "unknown key in a space": (["model.onnx", "--space", "space.yaml"], "base"),
    "unknown workload": (["model.onnx", "--workload", "latncy"], "latency"),
    "unknown device": (["model.onnx", "--device", "gpu9"], "gpu9"),
    "unknown executor": (["model.onnx", "--executor", "rai"], "ray"),
    "unknown backend": (["model.onnx", "--backend", "onnx"], "onnxruntime"),
    "unknown dimension": (["model.onnx", "--dim", "sq=4"], "sq"),
    "a model of an endless name": (["n" * 300 + ".onnx"], "shorter"),
    "a run folder of an endless name": (["model.onnx", "-o", "n" * 300], "shorter"),
    "data of an endless name": (["model.onnx", "--data", "n" * 300 + ".npz"], "shorter"),
    "a library that is none": (["model.onnx", "--custom-op-lib", "text.onnx"], "text.onnx"),
    "unreadable dimension": (["model.onnx", "--dim", "seq"], "seq"),
    "resume of nothing": (["--resume", "full"], "full"),
    "resume with other options": (["--resume", "full", "--seed", "3"], "seed"),
    "no model": ([], "model"),
    "unknown option": (["model.onnx", "--budgt", "2m"], "budg"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_in_two_lines_and_leaves_nothing_behind(mistake: str, place: Path) -> None:
    arguments, named = MISTAKES[mistake]
    before = sorted(place.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-m", "autotune", "search", *arguments],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert named in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2, done.stderr
    assert sorted(place.rglob("*")) == before

"""What a signal does to a command, whatever it is at: cleaned up, the right exit status, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from autotune.testing import onnx_models

BUSY = """
import sys, tempfile, time
from autotune.cli import main

@main.app.command()
def busy():
    with tempfile.TemporaryDirectory(prefix="autotune-busy-"):
        print("ready", flush=True)
        time.sleep(60)

main.run(["busy"])
"""

AFTERWARDS = """
import atexit, time
from autotune.cli import main
atexit.register(lambda: (print("ready", flush=True), time.sleep(60)))
main.run(["--version"])
"""

SLOW_DATA = """
import time
def load():
    print("ready", flush=True)
    time.sleep(60)
    yield {}, None
"""


def ended(command: list[str], number: signal.Signals, folder: Path) -> tuple[int, str]:
    """Run ``command``, send the signal once it has printed ``ready``, and return its exit status and stderr."""
    scratch = folder / "tmp"
    scratch.mkdir()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert any("ready" in line for line in process.stdout)
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    assert list(scratch.glob("autotune-*")) == []
    return process.returncode % 256, errors


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_is_ended_removes_its_temporary_folders(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    assert ended([sys.executable, "-c", BUSY], number, tmp_path) == (code, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_interpreter_ends_prints_nothing(tmp_path: Path, number: signal.Signals) -> None:
    code, errors = ended([sys.executable, "-c", AFTERWARDS], number, tmp_path)
    assert code == 256 - number
    assert errors == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_ends_a_search_that_is_still_being_prepared(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    onnx_models.mlp(tmp_path / "model.onnx")
    (tmp_path / "slow_data.py").write_text(SLOW_DATA)
    command = [sys.executable, "-m", "autotune", "search", "model.onnx", "--data", "slow_data:load", "-o", "run"]
    assert ended(command, number, tmp_path) == (code, "")
    assert not (tmp_path / "run").exists()

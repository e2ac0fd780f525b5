"""Whether a trial's process lives, by the file that its id is kept in."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

from autotune_trials.process import process_file, process_lives


def test_a_process_that_nobody_reaped_does_not_live(tmp_path: Path) -> None:
    work = tmp_path / "t0001.json"
    with subprocess.Popen([sys.executable, "-c", "input()", str(work)], stdin=subprocess.PIPE) as process:
        process_file(work).write_text(str(process.pid))
        assert process_lives(work)
        process.kill()
        while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
        assert not process_lives(work)


def test_an_id_that_another_process_got_is_not_the_trials(tmp_path: Path) -> None:
    work = tmp_path / "t0001.json"
    assert not process_lives(work)
    process_file(work).write_text(str(os.getpid()))
    assert not process_lives(work)
    process_file(work).write_text("cut sh")
    assert not process_lives(work)

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil

from autotune_trials.ray_leftovers import claim, sweep_leftovers


def folder_in(parent: Path, name: str, owner: str | None = None) -> Path:
    folder = parent / name
    folder.mkdir()
    if owner is not None:
        (folder / "owner").write_text(owner)
    return folder


def ended_process() -> str:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        created = psutil.Process(process.pid).create_time()
    return f"{process.pid} {created}"


def test_a_dead_drivers_folder_and_its_daemons_are_cleared_away(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, "autotune-dead", ended_process())
    daemon = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", f"--dir={folder}/session"])
    with daemon:
        sweep_leftovers(tmp_path)
        daemon.wait(10)
    assert not folder.exists()


def test_what_a_living_driver_or_anyone_else_owns_is_left_alone(tmp_path: Path) -> None:
    mine = folder_in(tmp_path, "autotune-mine")
    claim(mine)
    unmarked = folder_in(tmp_path, "autotune-unmarked")
    damaged = folder_in(tmp_path, "autotune-damaged", "no process")
    foreign = folder_in(tmp_path, "another-tool", ended_process())
    sweep_leftovers(tmp_path)
    assert all(folder.is_dir() for folder in (mine, unmarked, damaged, foreign))


def test_a_process_that_was_given_a_dead_drivers_id_does_not_own_its_folder(tmp_path: Path) -> None:
    own = psutil.Process()
    folder = folder_in(tmp_path, "autotune-reused", f"{own.pid} {own.create_time() - 1000}")
    sweep_leftovers(tmp_path)
    assert not folder.exists()

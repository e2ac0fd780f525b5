"""What a killed driver leaves behind: Ray's daemons and their folder. The next driver clears it away."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

__all__ = ["PREFIX", "claim", "sweep_leftovers"]

PREFIX = "autotune-"
_OWNER = "owner"


def claim(folder: Path) -> None:
    """Write into Ray's ``folder`` which process it belongs to. The start time tells that process from a later one of its id."""
    own = psutil.Process()
    (folder / _OWNER).write_text(f"{own.pid} {own.create_time()}")


def sweep_leftovers(parent: Path | None = None) -> None:
    """Remove the folders in ``parent`` (None: where temporary files go) whose owner has ended, and end the daemons in them.

    A folder without an owner's mark, or of another user, is left alone.
    """
    for folder in _abandoned(Path(tempfile.gettempdir()) if parent is None else parent):
        _end_daemons(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _abandoned(parent: Path) -> Iterator[Path]:
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            pid, created = (folder / _OWNER).read_text().split()
            if folder.stat().st_uid == os.getuid() and not _lives(int(pid), float(created)):
                yield folder


def _lives(pid: int, created_s: float) -> bool:
    try:
        return abs(psutil.Process(pid).create_time() - created_s) < 1.0
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True


def _end_daemons(folder: Path) -> None:
    """Ray gives its folder to each of its daemons on the command line."""
    own = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(f"{folder}/" in argument for argument in process.cmdline()) and process.pid != os.getpid():
                process.kill()
                own.append(process)
    psutil.wait_procs(own, timeout=5)

"""Locks that the kernel releases when their holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autotune.core.errors import UserError

__all__ = ["drive", "exclusive"]


@contextmanager
def drive(path: Path) -> Iterator[None]:
    """Hold the run's lock file ``path``, which names the holder. Raises ``UserError`` with the holder's process id.

    Raises ``OSError`` when the file cannot be made.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _refusal(path, os.pread(handle, 200, 0).decode(errors="replace")) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()} {platform.node()}\n".encode(), 0)
        yield
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``; wait for it while another process does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _refusal(path: Path, content: str) -> UserError:
    pid, _, host = content.strip().partition(" ")
    holder = f"process {pid or '(unknown)'}" + (f" on {host}" if host and host != platform.node() else "")
    return UserError(
        f"{path.parent} is in use by {holder}", f"wait until it ends, or stop it: kill {pid or '(unknown)'}"
    )

"""Writing so that a reader, or a power cut, meets either the old content or the new one, never a half."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

__all__ = ["place_folder", "sync_folder", "write_atomic"]


def write_atomic(path: Path, content: bytes) -> None:
    """Replace ``path`` by a file of that content. Raises ``OSError``; ``path`` is then as it was."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fchmod(stream.fileno(), 0o666 & ~_umask())
            os.fsync(stream.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def place_folder(made: Path, final: Path) -> None:
    """Move the folder ``made`` to ``final``, durably. When ``final`` is there already, it stays, and ``made`` is removed.

    For content-addressed folders only: whoever came first wrote the same. Both are on one file system.
    """
    for file in made.rglob("*"):
        _sync(file)
    made.chmod(0o777 & ~_umask())
    _sync(made)
    try:
        made.rename(final)
    except OSError:
        if not final.is_dir():
            raise
        shutil.rmtree(made)
    sync_folder(final.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable."""
    _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    """The process's umask. (Linux tells it without changing it; elsewhere temporary files stay private.)"""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0o077
    return next((int(line.split()[1], 8) for line in status.splitlines() if line.startswith("Umask:")), 0o077)

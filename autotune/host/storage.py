"""Room on disk and in shared memory, in bytes, for ``autotune doctor``."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["disk_free_bytes", "shared_memory_bytes"]


def disk_free_bytes(path: Path) -> int | None:
    """Bytes free where ``path`` lies, or would lie when it does not exist yet. None: unknown."""
    existing = next((folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists()), None)
    return shutil.disk_usage(existing).free if existing else None


def shared_memory_bytes(folder: Path = Path("/dev/shm")) -> int | None:
    """Bytes of shared memory in all (Docker's default is 64 MiB). None: there is none."""
    return shutil.disk_usage(folder).total if folder.is_dir() else None

"""A run folder as people are told of it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["shown_path"]


def shown_path(path: Path) -> str:
    """Relative to the current folder where it lies in it: commands are read, typed and shared."""
    try:
        current = Path.cwd()
    except OSError:  # it was removed
        return str(path)
    return os.path.relpath(path, current) if path.is_relative_to(current) else str(path)

"""The model as it is: its files copied, by path and never through memory."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

__all__ = ["copy_files", "copy_model"]


def copy_model(source: Path, external: Sequence[str], target: Path) -> None:
    """Copy ``source`` to ``target`` and its ``external`` files (relative names) to the same names beside it."""
    shutil.copyfile(source, target)
    copy_files(source.parent, external, target.parent)


def copy_files(source: Path, names: Sequence[str], target: Path) -> None:
    """Copy files of those relative names from one folder to another.

    Copies, no links: onnx refuses external data that are links, and a link into the user's folder could change under us.
    """
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)

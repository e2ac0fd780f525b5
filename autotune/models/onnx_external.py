"""Finds a model's external-data files, and refuses those that are missing, cut short or outside its folder."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from autotune.core.errors import UserError
from autotune.models.onnx_walk import all_tensors

__all__ = ["external_files"]


def external_files(model: Any, path: Path) -> tuple[str, ...]:
    """Return the files' names relative to ``path``'s folder, sorted. Empty: the weights are in the model itself.

    Raises ``UserError``.
    """
    ends = _ends(model)
    for name, end in ends.items():
        _refuse_outside(name, path)
        _refuse_missing(name, end, path)
    return tuple(sorted(PurePosixPath(name).as_posix() for name in ends))


def _ends(model: Any) -> dict[str, int]:
    """File name → the last byte that a tensor needs of it, plus one."""
    ends: dict[str, int] = {}
    for tensor in all_tensors(model):
        if tensor.data_location == tensor.EXTERNAL:
            entries = {entry.key: entry.value for entry in tensor.external_data}
            name = entries.get("location", "")
            end = _number(entries.get("offset")) + _number(entries.get("length"))
            ends[name] = max(ends.get(name, 0), end)
    return ends


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdigit() else 0


def _refuse_outside(name: str, path: Path) -> None:
    location = PurePosixPath(name)
    if not name or location.is_absolute() or ".." in location.parts or "\\" in name:
        raise UserError(
            f"{path.name} keeps weights at {name!r}, outside its folder",
            "save the model again with its external data beside it",
        )


def _refuse_missing(name: str, end: int, path: Path) -> None:
    file = path.parent / name
    if not file.is_file():
        raise UserError(f"{path.name} needs {name}, which is missing", f"put {name} into {path.parent}")
    size = file.stat().st_size
    if size < end:
        raise UserError(f"{name} has {size} bytes, but {path.name} needs {end}", f"copy {name} again: it is truncated")

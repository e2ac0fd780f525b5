"""What ``--data`` may name: an ``.npz`` file, or a folder of ``.npy`` files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.core.errors import UserError
from autotune.data.arrays import UNREADABLE, ArrayFile, npy_array, npz_arrays

__all__ = ["Source", "open_source"]

_LOADER = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_IMAGES = {".jpg", ".jpeg", ".png", ".webp", ".bmp"}
_SUPPORTED = "give an .npz file with one array per input, or a folder of .npy files named so"


@dataclass(frozen=True)
class Source:
    """Arrays by name. ``path`` is absolute; ``files`` are those to hash."""

    path: Path
    files: tuple[Path, ...]
    arrays: Mapping[str, ArrayFile]

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.path.name


def open_source(spec: str) -> Source:
    """Read the headers of what ``spec`` names. Raises ``UserError``."""
    path = Path(spec).absolute()
    if path.is_dir():
        return _folder(path)
    if path.is_file():
        return _file(path)
    if _LOADER.fullmatch(spec):
        raise UserError(f"--data {spec}: loader functions are not supported yet", _SUPPORTED)
    raise UserError(f"--data: there is no file or folder {spec}", _SUPPORTED)


def _file(path: Path) -> Source:
    if path.suffix != ".npz":
        raise UserError(f"--data: {path.name} is not an .npz file", _SUPPORTED)
    try:
        arrays = npz_arrays(path)
    except UNREADABLE as error:
        raise UserError(
            f"--data: {path.name} cannot be read as .npz: {_first_line(error)}", "write it again with np.savez"
        ) from error
    if not arrays:
        raise UserError(f"--data: {path.name} holds no arrays", _SUPPORTED)
    return Source(path, (path,), arrays)


def _folder(path: Path) -> Source:
    files = tuple(sorted(path.rglob("*.npy")))
    if not files:
        pictures = any(file.suffix.lower() in _IMAGES for file in path.rglob("*"))
        problem = "image folders are not supported yet" if pictures else "the folder holds no .npy files"
        raise UserError(f"--data {path.name}: {problem}", _SUPPORTED)
    return Source(path, files, {file.relative_to(path).with_suffix("").as_posix(): _npy(file) for file in files})


def _npy(file: Path) -> ArrayFile:
    try:
        return npy_array(file)
    except UNREADABLE as error:
        raise UserError(
            f"--data: {file.name} cannot be read as .npy: {_first_line(error)}", "write it again with np.save"
        ) from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)

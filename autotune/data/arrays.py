"""Arrays in ``.npy`` and ``.npz`` files: headers first, contents mapped into memory when they are needed."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

__all__ = ["UNREADABLE", "ArrayFile", "npy_array", "npz_arrays"]

UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, RuntimeError)
"""What reading a damaged, encrypted or foreign file raises (``NotImplementedError`` is a ``RuntimeError``)."""


@dataclass(frozen=True)
class ArrayFile:
    """One array in ``path``. ``offset``: where its bytes start, None when they are compressed (in ``member``)."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    offset: int | None
    member: str | None = None

    def load(self) -> NDArray[Any]:
        """Return the array, read-only: mapped into memory, or decompressed whole when it is compressed.

        Raises one of ``UNREADABLE`` when its bytes are damaged.
        """
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        if self.offset is None:
            with np.load(self.path, allow_pickle=False) as archive:
                loaded: NDArray[Any] = archive[self.member]
                return loaded
        order: Any = "F" if self.fortran else "C"
        shape = self.shape or (1,)  # numpy maps no scalars
        return np.memmap(self.path, self.dtype, "r", self.offset, shape, order).reshape(self.shape)


def npy_array(path: Path) -> ArrayFile:
    """Read the header of an ``.npy`` file. Raises one of ``UNREADABLE`` when it is none."""
    with path.open("rb") as stream:
        shape, fortran, dtype = _header(stream)
        start = stream.tell()
    _refuse_truncated(path.stat().st_size - start, shape, dtype)
    return ArrayFile(path, shape, dtype, fortran, start)


def npz_arrays(path: Path) -> dict[str, ArrayFile]:
    """Read the header of each array of an ``.npz`` file. Raises one of ``UNREADABLE`` when it is none."""
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        return {member.filename.removesuffix(".npy"): _member(path, archive, member) for member in members}


def _member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> ArrayFile:
    with archive.open(member) as stream:
        shape, fortran, dtype = _header(stream)
        header = stream.tell()
    _refuse_truncated(member.file_size - header, shape, dtype)
    stored = member.compress_type == zipfile.ZIP_STORED
    offset = _start(path, member) + header if stored else None
    return ArrayFile(path, shape, dtype, fortran, offset, member.filename.removesuffix(".npy"))


def _start(path: Path, member: zipfile.ZipInfo) -> int:
    """Where a stored member's bytes start: its local header is 30 bytes, a name and an extra field (PKWARE APPNOTE 4.3.7)."""
    with path.open("rb") as stream:
        stream.seek(member.header_offset + 26)
        name, extra = stream.read(2), stream.read(2)
    return member.header_offset + 30 + int.from_bytes(name, "little") + int.from_bytes(extra, "little")


def _refuse_truncated(size: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if size < prod(shape) * dtype.itemsize and not dtype.hasobject:
        raise ValueError("it is truncated")


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy_format.read_magic(stream)
    if version == (1, 0):
        return npy_format.read_array_header_1_0(stream)
    if version == (2, 0):
        return npy_format.read_array_header_2_0(stream)
    raise ValueError(f"format version {version} holds records, not numbers")

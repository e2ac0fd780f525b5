"""The zip archive of an exported program (``.pt2``): what may be in it, read without running anything of it.

The layout is PyTorch's "PT2 archive" (docs.pytorch.org/docs/stable/export/pt2_archive.html). PyTorch's own loader runs code
that such a file brings along: it unpickles payloads, evaluates expressions, loads libraries. So an archive is refused unless
everything in it is of a kind that cannot, and PyTorch is handed a copy that holds nothing else.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from autotune.core.errors import UserError

__all__ = ["LARGEST_JSON", "MODEL", "Pt2Archive", "damaged", "opened", "unsafe"]

LARGEST_JSON: Final = 2**28
"""Bytes: a graph of a hundred thousand operators takes a tenth of it."""

MODEL: Final = "models/model.json"
_WEIGHTS, _CONSTANTS = "data/weights/", "data/constants/"
_UNREADABLE: Final = (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, ValueError, NotImplementedError, RuntimeError)
_COMPILED: Final = ("data/aotinductor/", "data/executorch/")


class Pt2Archive:
    """An open archive whose listing is in order. ``root`` is the folder that everything in it lies in."""

    def __init__(self, file: zipfile.ZipFile, name: str) -> None:
        self.name = name
        self._file = file
        self._sizes = _listing(file, name)
        (self.root,) = {record.partition("/")[0] for record in self._sizes} or {""}
        self._refuse_contents()

    def size(self, record: str) -> int:
        """Bytes of a record. Raises ``UserError`` when there is none."""
        if f"{self.root}/{record}" not in self._sizes:
            raise damaged(self.name, f"{record} is missing")
        return self._sizes[f"{self.root}/{record}"]

    def chunks(self, record: str) -> Iterator[bytes]:
        """A record's bytes, in parts of a megabyte. Raises ``UserError`` when they are not what the file says of them."""
        try:
            with self._file.open(f"{self.root}/{record}") as stream:
                while part := stream.read(2**20):
                    yield part
        except (*_UNREADABLE, OSError) as error:
            raise damaged(self.name, f"{record} is damaged") from error

    def json(self, record: str) -> dict[str, Any]:
        """A record that is a mapping. Raises ``UserError``."""
        if self.size(record) > LARGEST_JSON:
            raise damaged(self.name, f"{record} has {self.size(record)} bytes")
        try:
            found = json.loads(b"".join(self.chunks(record)))
        except (ValueError, RecursionError) as error:
            raise damaged(self.name, f"{record} cannot be parsed") from error
        if not isinstance(found, dict):
            raise damaged(self.name, f"{record} is no mapping")
        return found

    def _refuse_contents(self) -> None:
        names = [record.partition("/")[2] for record in self._sizes]
        if any(name.startswith(_COMPILED) for name in names):
            raise unsafe(self.name, "compiled code lies in it")
        if any(name.startswith((_WEIGHTS, _CONSTANTS)) and name.endswith(".pt") for name in names):
            raise unsafe(self.name, "its tensors are pickled, as PyTorch once did")
        programs = [name for name in names if name.startswith("models/")]
        if programs != [MODEL]:
            raise damaged(self.name, f"it holds {len(programs) or 'no'} programs")


@contextmanager
def opened(path: Path) -> Iterator[Pt2Archive]:
    """The archive at ``path``. Raises ``UserError`` when it is none, or holds what must not be loaded."""
    try:
        file = zipfile.ZipFile(path)
    except _UNREADABLE as error:
        raise damaged(path.name, "it is no zip archive") from error
    except OSError as error:
        raise UserError(
            f"{path.name} cannot be read: {error.strerror or error}", "check the file's permissions"
        ) from error
    with file:
        yield Pt2Archive(file, path.name)


def unsafe(name: str, why: str) -> UserError:
    """What is said of a file that PyTorch would run code of."""
    return UserError(
        f"{name} is refused, since loading it could run code: {why}",
        "save the program again with torch.export.save, of tensors alone",
    )


def damaged(name: str, fault: str) -> UserError:
    """What is said of a file that is no exported program."""
    return UserError(
        f"{name} is not an exported program, or is damaged: {fault}", "save it again with torch.export.save"
    )


def _listing(file: zipfile.ZipFile, name: str) -> dict[str, int]:
    """Bytes by record. ``torch.export.save`` compresses nothing: so what is read can never be more than the file."""
    entries = file.infolist()
    sizes = {entry.filename: entry.file_size for entry in entries}
    if len(sizes) != len(entries):
        raise damaged(name, "two records have one name")
    if any(entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1 for entry in entries):
        raise damaged(name, "records of it are compressed or encrypted")
    if any(entry.file_size != entry.compress_size for entry in entries) or sum(sizes.values()) > _bytes(file):
        raise damaged(name, "its records are larger than the file")
    if any(_strays(record) for record in sizes) or len({record.partition("/")[0] for record in sizes}) > 1:
        raise damaged(name, "its records do not lie in one folder")
    return sizes


def _strays(record: str) -> bool:
    parts = record.split("/")
    return len(parts) < 2 or "\\" in record or any(part in ("", ".", "..") for part in parts)


def _bytes(file: zipfile.ZipFile) -> int:
    assert file.fp is not None
    file.fp.seek(0, 2)
    return file.fp.tell()

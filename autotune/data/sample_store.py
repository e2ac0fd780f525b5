"""Samples kept on disk: one file a tensor, rows one after another, and an index. Rows may differ in type and shape."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.errors import UserError
from autotune.data.dataset import Sample
from autotune.data.dtypes import numpy_dtype
from autotune.data.headers import LABEL, SampleHeader, header_of

__all__ = ["StoredSamples", "digest_of", "keep", "store_root"]

_INDEX = "index.json"


def store_root() -> Path:
    """Where samples that a function yields are kept, by their hash: ``$XDG_CACHE_HOME/autotune/samples``."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "autotune" / "samples"


def keep(samples: Iterable[Sample], root: Path) -> tuple[Path, str, list[SampleHeader]]:
    """Write ``samples`` under ``root``; return their folder, their hash, and each one's types and shapes.

    The folder is named by the hash: the same samples are kept once. Raises ``OSError`` when the disk is full, and whatever
    ``samples`` raises; nothing is left behind then.
    """
    root.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=root))
    try:
        writer = _Writer(unfinished)
        sha256 = writer.write(samples)
        folder = root / sha256
        with suppress(OSError):  # another process, or an earlier search, kept them already
            unfinished.rename(folder)
        return folder, sha256, writer.headers
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def digest_of(samples: Iterable[Sample]) -> tuple[str, list[SampleHeader]]:
    """Return the hash that ``keep`` gives, and each sample's types and shapes, without writing anything."""
    digest = hashlib.sha256()
    headers = [_digested(digest, sample) for sample in samples]
    return digest.hexdigest(), headers


@dataclass
class _Writer:
    folder: Path
    headers: list[SampleHeader] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def write(self, samples: Iterable[Sample]) -> str:
        """Write all; return their hash."""
        digest = hashlib.sha256()
        with ExitStack() as open_files:
            files: dict[str, IO[bytes]] = {}
            for sample in samples:
                self.headers.append(_digested(digest, sample))
                for name, array in _tensors(sample).items():
                    if name not in files:
                        files[name] = open_files.enter_context(self._file(name).open("wb"))
                    files[name].write(_bytes(array))
        rows = [header.as_json() for header in self.headers]
        index = {"files": {name: self._file(name).name for name in self._numbers}, "rows": rows}
        (self.folder / _INDEX).write_text(json.dumps(index), encoding="utf-8")
        return digest.hexdigest()

    def _file(self, name: str) -> Path:
        """Numbered: a tensor's name may be no file's."""
        return self.folder / f"{self._numbers.setdefault(name, len(self._numbers))}.bin"


class StoredSamples(Sequence[Sample]):
    """What ``keep`` wrote, by index; mapped into memory at the first sample."""

    def __init__(self, folder: Path) -> None:
        """Raises ``UserError`` when it has gone."""
        try:
            index = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            remedy = "delete that folder if it exists and start again: the loader fills it anew"
            raise UserError(f"the loader's samples, kept in {folder}, cannot be read", remedy) from error
        self.folder = folder
        self.headers = [SampleHeader.from_json(row) for row in index["rows"]]
        self._files: Mapping[str, str] = index["files"]

    def __len__(self) -> int:
        return len(self.headers)

    def __getitem__(self, index: Any) -> Any:
        tensors = {name: self._row(name, index) for name in self.headers[index].tensors}
        label = tensors.pop(LABEL, None)
        return tensors, label[()] if label is not None and label.ndim == 0 else label

    def _row(self, name: str, index: int) -> NDArray[Any]:
        dtype, shape = self.headers[index].tensors[name]
        size = prod(shape) * numpy_dtype(dtype).itemsize
        start = self._offsets[name][index]
        return self._mapped[name][start : start + size].view(numpy_dtype(dtype)).reshape(shape)

    @cached_property
    def _mapped(self) -> dict[str, NDArray[np.uint8]]:
        files = {name: self.folder / file for name, file in self._files.items()}
        return {
            name: np.memmap(file, np.uint8, "r") if file.stat().st_size else np.empty(0, np.uint8)
            for name, file in files.items()
        }

    @cached_property
    def _offsets(self) -> dict[str, NDArray[np.int64]]:
        """Where each row begins, in bytes."""
        return {name: self._starts(name) for name in self._files}

    def _starts(self, name: str) -> NDArray[np.int64]:
        rows = [header.tensors[name] for header in self.headers]
        sizes = [prod(shape) * numpy_dtype(dtype).itemsize for dtype, shape in rows]
        return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])[:-1]


def _tensors(sample: Sample) -> dict[str, NDArray[Any]]:
    inputs, label = sample
    return inputs if label is None else {**inputs, LABEL: np.asarray(label)}


def _digested(digest: Any, sample: Sample) -> SampleHeader:
    header = header_of(sample)
    digest.update(json.dumps(header.as_json()).encode())
    for name in header.tensors:
        digest.update(_bytes(_tensors(sample)[name]))
    return header


def _bytes(array: NDArray[Any]) -> bytes:
    return np.ascontiguousarray(array).tobytes()

"""Stable fingerprints: the same data gives the same text and the same hash, on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["canonical_json", "hash_files", "hash_json"]


def canonical_json(data: Any) -> str:
    """Return JSON with sorted keys and no spaces. ``data`` is made of dict, list, str, int, float, bool and None."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True)


def hash_json(data: Any) -> str:
    """Return the SHA-256, in hex, of ``data``'s canonical JSON."""
    return hashlib.sha256(canonical_json(data).encode()).hexdigest()


def hash_files(files: Iterable[Path], root: Path) -> str:
    """Return one SHA-256, in hex, of the files' names relative to ``root`` and their bytes, read by chunks.

    The order in which the files are given does not matter.
    """
    digest = hashlib.sha256()
    for file in sorted(files):
        with file.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256")
        digest.update(f"{file.relative_to(root).as_posix()}\0{content.hexdigest()}\n".encode())
    return digest.hexdigest()

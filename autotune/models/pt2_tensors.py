"""The tensors of an exported program's archive: which there are, and that each lies within its record."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

from autotune.models.pt2_archive import Pt2Archive, damaged, unsafe

__all__ = ["KINDS", "Tensors", "read_tensors"]

KINDS: Final = ("weights", "constants")
_RECORD: Final = re.compile(r"(weight|tensor)_\d{1,9}")
_STRIDED: Final = 7  # torch/_export/serde/schema.py, Layout
_ITEM_BYTES: Final = {
    **dict.fromkeys((1, 2, 12, 29, 30, 31, 32, 33), 1),
    **dict.fromkeys((3, 6, 13, 28), 2),
    **dict.fromkeys((4, 7, 9, 34), 4),
    **dict.fromkeys((5, 8, 10, 35), 8),
    11: 16,
}
"""Bytes of an element by PyTorch's number of its type (ScalarType there)."""


@dataclass(frozen=True)
class Tensors:
    """Of one kind: ``config`` describes each tensor by its name; ``records`` are their bytes' places, each once."""

    kind: str
    config: dict[str, dict[str, Any]]
    records: tuple[str, ...]


def read_tensors(archive: Pt2Archive, kind: str) -> Tensors:
    """Read and check the descriptions. Raises ``UserError`` when one is pickled, or reaches beyond its record."""
    config = archive.json(f"data/{kind}/model_{kind}_config.json").get("config")
    if not isinstance(config, dict):
        raise damaged(archive.name, f"its {kind} are not described")
    records: dict[str, None] = {}
    for tensor, entry in config.items():
        if not isinstance(entry, dict) or entry.get("use_pickle") is not False or not _is_tensor(entry):
            raise unsafe(archive.name, f"{tensor[:80]} is pickled")
        record = f"data/{kind}/{entry['path_name']}"
        if not _fits(entry["tensor_meta"], archive.size(record)):
            raise damaged(archive.name, f"{tensor[:80]} is no dense tensor within {entry['path_name']}")
        records[record] = None
    return Tensors(kind, config, tuple(records))


def _is_tensor(entry: dict[str, Any]) -> bool:
    return bool(_RECORD.fullmatch(str(entry.get("path_name")))) and isinstance(entry.get("tensor_meta"), dict)


def _fits(meta: dict[str, Any], record_bytes: int) -> bool:
    try:
        sizes, strides = ([int(one["as_int"]) for one in meta[name]] for name in ("sizes", "strides"))
        offset, item = int(meta["storage_offset"]["as_int"]), _ITEM_BYTES[meta["dtype"]]
        if meta["layout"] != _STRIDED or min([*sizes, *strides, offset], default=0) < 0:
            return False
        if math.prod(sizes) == 0:
            return True
        last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
        return (last + 1) * item <= record_bytes
    except (KeyError, TypeError, ValueError):
        return False

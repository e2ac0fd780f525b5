"""What a transformation starts from: a repaired and prepared copy of the model, in a folder that goes away."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.graph import external_files, load_graph, nodes, size_bytes
from autotune_backends.transform.onnx.prepare import Prepare
from autotune_backends.transform.onnx.repair import Repair

__all__ = ["EXTERNAL_ABOVE_BYTES", "Prepared", "prepared"]

EXTERNAL_ABOVE_BYTES = 1_500_000_000
"""Larger models keep their weights in a file of their own: a protobuf message ends at 2 GB, and tools add to it."""


@dataclass(frozen=True)
class Prepared:
    """``path`` of the copy; its folder may be written to. ``external``: weights belong in a file of their own.

    ``original`` is the source's graph without its weights, ``bytes_before`` its size with them; ``parts`` are the facts
    of the steps so far.
    """

    path: Path
    external: bool
    original: Any
    bytes_before: int
    parts: dict[str, Any]

    def change(self, name: str, target: Path, counted: Counter[str], why_nothing: str, **further: Any) -> Change:
        """Describe what was written to ``target``. ``counted`` empty: nothing was done, and the file is removed."""
        result = load_graph(target)
        facts: dict[str, Any] = {
            "nodes_before": sum(1 for _ in nodes(self.original.graph)),
            "nodes_after": sum(1 for _ in nodes(result.graph)),
            **further,
            "bytes_before": self.bytes_before,
            "bytes_after": size_bytes(target, result),
        }
        if not counted:
            _remove(target, external_files(result))
            return Change(name, facts, unchanged=why_nothing)
        return Change(name, facts | self.parts)


@contextmanager
def prepared(source: Path, target: Path, prepare: Prepare) -> Iterator[Prepared]:
    """Repair and prepare ``source`` in a folder beside ``target``; it is removed on leaving."""
    original = load_graph(source)
    before = size_bytes(source, original)
    external = bool(external_files(original)) or before > EXTERNAL_ABOVE_BYTES
    with tempfile.TemporaryDirectory(prefix=".preparing-", dir=target.parent) as work:
        repaired, ready = _places(Path(work))
        repair = Repair(for_quantiser=True)(source, repaired)
        preparation = prepare(source if repair.unchanged else repaired, ready, external)
        parts = {change.name: change.facts for change in (repair, preparation) if change.facts}
        yield Prepared(ready, external, original, before, parts)


def _places(work: Path) -> tuple[Path, Path]:
    """Paths of the model between the steps, each in a folder of its own: external data keep their names."""
    for name in ("repaired", "prepared"):
        (work / name).mkdir()
    return work / "repaired" / "model.onnx", work / "prepared" / "model.onnx"


def _remove(model: Path, external: tuple[str, ...]) -> None:
    for name in external:
        (model.parent / name).unlink()
    model.unlink()

"""Intended changes, kept in the baseline's folder, where they are reviewed as a diff."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from autotune.core.errors import UserError
from autotune.core.frozen import FileRecord, Record
from autotune.gate.tolerances import gateable, once

__all__ = [
    "ACCEPTED",
    "Acceptance",
    "Accepted",
    "parse_accept",
    "read_accepted",
    "require_acceptable",
    "write_accepted",
]

ACCEPTED = "accepted.json"

_ACCEPT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*:\s*(\S.*?)\s*", re.DOTALL)


class Acceptance(Record):
    """A loss that is intended: how much (as in ``verdict.Compared``), why, and which head was measured.

    ``baseline`` and ``head`` are artifacts' SHA-256: it holds for that baseline alone.
    """

    metric: str
    reason: str
    loss: float
    baseline: str
    head: str


class Accepted(FileRecord):
    """``accepted.json`` of a deployed folder."""

    schema_: str = Field(default="autotune/accepted/1", alias="schema")
    changes: tuple[Acceptance, ...] = ()

    def of(self, metric: str, baseline: str) -> Acceptance | None:
        """What was accepted of this metric against this baseline; None: nothing."""
        return next((one for one in self.changes if one.metric == metric and one.baseline == baseline), None)


def parse_accept(texts: Sequence[str]) -> dict[str, str]:
    """Read ``"latency_p50: bigger vocabulary"`` as reasons by metric. Raises ``UserError``."""
    return once("--accept", [_reason(text) for text in texts])


def require_acceptable(folder: Path) -> None:
    """Raise ``UserError``, before anything is measured, when nothing can be accepted into the folder."""
    file = folder / ACCEPTED
    if not os.access(folder, os.W_OK) or file.is_dir():
        raise UserError(f"--accept writes {file}, which cannot be written", "is the folder read-only?")


def read_accepted(folder: Path) -> Accepted:
    """What was accepted in this folder so far. Raises ``UserError`` when the file cannot be read."""
    file = folder / ACCEPTED
    if not file.is_file():
        return Accepted()
    try:
        return Accepted.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise UserError(f"{file} cannot be read", "restore it from version control, or delete it") from error


def _reason(text: str) -> tuple[str, str]:
    match = _ACCEPT.fullmatch(text)
    if match is None:
        raise UserError(f"--accept {text!r} gives no reason", 'write "METRIC: why it is intended"')
    if not gateable(match[1]):
        raise UserError(f"--accept {text!r}: a gate does not judge {match[1]}", "name a metric that failed")
    return match[1], match[2]


def write_accepted(folder: Path, new: Sequence[Acceptance]) -> None:
    """Add to what was accepted; an acceptance of the same metric, or one of another baseline, is replaced."""
    baselines, metrics = {one.baseline for one in new}, {one.metric for one in new}
    kept = [one for one in read_accepted(folder).changes if one.baseline in baselines and one.metric not in metrics]
    changes = tuple(sorted((*kept, *new), key=lambda one: one.metric))
    temporary = folder / f".{ACCEPTED}.new"
    try:
        temporary.write_text(Accepted(changes=changes).to_json(indent=2) + "\n", encoding="utf-8")
        temporary.replace(folder / ACCEPTED)
    except OSError as error:
        raise UserError(f"cannot write {folder / ACCEPTED}: {error.strerror}", "is the folder read-only?") from error

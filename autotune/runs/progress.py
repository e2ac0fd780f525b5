"""How long a search has worked: time it lay idle between a stop and its resume is not charged."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field, ValidationError

from autotune.core.frozen import FileRecord
from autotune.core.trial import TrialRecord
from autotune.runs.atomic import write_atomic

__all__ = ["Progress", "read_progress", "spent_s", "write_progress"]


class Progress(FileRecord):
    """``spent_s`` seconds were worked until ``as_of_s`` (Unix time)."""

    schema_: str = Field(default="autotune/progress/1", alias="schema")
    spent_s: float = 0.0
    as_of_s: float = 0.0


def read_progress(path: Path) -> Progress:
    """Read the heartbeat; a missing or unreadable one is nothing lost but time: the journal's records are charged alone."""
    try:
        return Progress.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return Progress()


def write_progress(path: Path, progress: Progress) -> None:
    """Replace the heartbeat."""
    write_atomic(path, progress.to_json().encode())


def spent_s(progress: Progress, records: Iterable[TrialRecord]) -> float:
    """Seconds worked: those of the last heartbeat, and those in which trials ran since, each second once."""
    covered, until = 0.0, progress.as_of_s
    for record in sorted(records, key=lambda record: record.started_s):
        start = max(record.started_s, until)
        covered += max(record.finished_s - start, 0.0)
        until = max(until, record.finished_s)
    return progress.spent_s + covered

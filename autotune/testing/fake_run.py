"""A run folder in memory."""

from __future__ import annotations

from collections.abc import Iterable

from autotune.core.front import Front
from autotune.core.trial import TrialRecord
from autotune.runs.search_file import SearchFile

__all__ = ["FakeRun"]


class FakeRun:
    """Keeps what it is told; ``records`` and ``spent_s`` given: a run that was left off."""

    def __init__(self, search: SearchFile, records: Iterable[TrialRecord] = (), spent_s: float = 0.0) -> None:
        self.search = search
        self.front: Front | None = None
        self._records = list(records)
        self._spent_s = spent_s

    def append(self, record: TrialRecord) -> None:
        """Keep a record. Its line must survive being written and read again."""
        self._records.append(TrialRecord.model_validate_json(record.to_json()))

    def records(self) -> list[TrialRecord]:
        """All of them."""
        return list(self._records)

    def write_front(self, front: Front) -> None:
        """Keep the front."""
        self.front = front

    def log_time(self, seconds: float) -> None:
        """Charge time."""
        assert seconds >= 0
        self._spent_s += seconds

    def spent_s(self) -> float:
        """Time charged."""
        return self._spent_s

"""What a search needs of its surroundings: where records are kept, who may stop it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from autotune.core.front import Front
from autotune.core.trial import TrialRecord
from autotune.runs.search_file import SearchFile

__all__ = ["Journal", "Stop"]


class Journal(Protocol):
    """Where a search keeps what it found: ``runs.RunFolder``, or a fake in memory."""

    @property
    def search(self) -> SearchFile:
        """What was asked for."""
        ...

    def append(self, record: TrialRecord) -> None:
        """Keep a record for good before returning."""
        ...

    def records(self) -> list[TrialRecord]:
        """All records, oldest first."""
        ...

    def write_front(self, front: Front) -> None:
        """Write, or replace, the front."""
        ...

    def log_time(self, seconds: float) -> None:
        """Add to the time spent working."""
        ...

    def spent_s(self) -> float:
        """All time spent working, in seconds."""
        ...


@dataclass
class Stop:
    """A request to stop, set by a signal handler. ``signal`` is its number, None: nobody asked.

    ``heeded``: whether a search has begun that looks at it; before, there is nothing to end in good order.
    """

    signal: int | None = None
    heeded: bool = False

    def request(self, signal: int) -> None:
        """Ask the search to stop; the first request's signal is kept."""
        if self.signal is None:
            self.signal = signal

    @property
    def requested(self) -> bool:
        """Whether someone asked."""
        return self.signal is not None

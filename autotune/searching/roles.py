"""What a search needs of its surroundings: where records are kept, who watches, who may stop it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from autotune.core.front import Front
from autotune.core.trial import Trial, TrialRecord
from autotune.runs.search_file import SearchFile

__all__ = ["Journal", "Observer", "Progress", "Silent", "Stop"]


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


@dataclass(frozen=True)
class Progress:
    """Where a search stands. ``budget_s`` and ``max_trials`` None: no such bound.

    ``trials`` have ended (those that measured the front again not counted), ``failed`` of them without a measurement.
    ``front`` holds the records of the front so far, ``baseline`` the baseline's first; None until it was measured.
    """

    trials: int
    failed: int
    spent_s: float
    budget_s: float | None
    max_trials: int | None
    front: tuple[TrialRecord, ...]
    baseline: TrialRecord | None


class Observer(Protocol):
    """Shows a person how the search goes. It must not raise."""

    def started(self, trial: Trial) -> None:
        """A trial was submitted."""
        ...

    def finished(self, record: TrialRecord, progress: Progress) -> None:
        """A trial ended, and is in the journal."""
        ...

    def note(self, text: str) -> None:
        """Something a person should know, in one line."""
        ...


class Silent:
    """An observer that shows nothing."""

    def started(self, trial: Trial) -> None:
        """Nothing."""

    def finished(self, record: TrialRecord, progress: Progress) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""


@dataclass
class Stop:
    """A request to stop, set by a signal handler. ``signal`` is its number, None: nobody asked."""

    signal: int | None = None

    def request(self, signal: int) -> None:
        """Ask the search to stop; the first request's signal is kept."""
        if self.signal is None:
            self.signal = signal

    @property
    def requested(self) -> bool:
        """Whether someone asked."""
        return self.signal is not None

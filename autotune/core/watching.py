"""A search as those who watch it are told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from autotune.core.candidate import Candidate
from autotune.core.errors import Cause
from autotune.core.objective import Objective
from autotune.core.trial import Trial, TrialRecord

__all__ = ["Observer", "Progress", "Silent", "Watched"]


@dataclass(frozen=True)
class Watched:
    """What is searched. ``model`` is its file's name. ``budget_s`` and ``max_trials`` None: no such bound.

    ``remarks`` are for the person, one line each. ``several_devices``: a trial is named with the one that it is on.
    """

    id: str
    model: str
    baseline: Candidate
    objectives: tuple[Objective, ...]
    budget_s: float | None
    max_trials: int | None
    remarks: tuple[str, ...] = ()
    several_devices: bool = False


@dataclass(frozen=True)
class Progress:
    """Where a search stands, earlier processes' work included.

    ``trials`` have ended (those that measured the front again not counted); of them ``failures`` by cause, and ``same`` that
    were another trial's. ``front`` holds the records of the front so far, ``baseline`` the baseline's first; None until it
    was measured.
    """

    trials: int
    failures: Mapping[Cause, int]
    same: int
    spent_s: float
    front: tuple[TrialRecord, ...]
    baseline: TrialRecord | None


class Observer(Protocol):
    """Shows a person how a search goes. None of its methods may raise or take long: a trial may be measured meanwhile."""

    def began(self, search: Watched, spent_s: float) -> None:
        """The search begins, or goes on after ``spent_s`` seconds of earlier work."""
        ...

    def started(self, trial: Trial) -> None:
        """A trial was submitted."""
        ...

    def finished(self, record: TrialRecord, progress: Progress) -> None:
        """A trial ended, and is in the journal."""
        ...

    def note(self, text: str) -> None:
        """Something a person should know, in one line."""
        ...

    def ended(self) -> None:
        """The search is over, well or not. Being told again changes nothing."""
        ...


class Silent:
    """An observer that shows nothing."""

    def began(self, search: Watched, spent_s: float) -> None:
        """Nothing."""

    def started(self, trial: Trial) -> None:
        """Nothing."""

    def finished(self, record: TrialRecord, progress: Progress) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""

    def ended(self) -> None:
        """Nothing."""

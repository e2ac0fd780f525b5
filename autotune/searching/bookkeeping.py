"""What is done with every trial that ends: journal first, then everybody else."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autotune.core.ports import Tracker
from autotune.core.trial import TrialRecord
from autotune.core.watching import Observer
from autotune.searching.budget import Budget
from autotune.searching.roles import Journal

__all__ = ["Bookkeeping", "Trackers"]


class Trackers:
    """Views that may fail. One that does is named once and left alone: the journal has everything, and can be synced."""

    def __init__(self, trackers: Sequence[Tracker], observer: Observer) -> None:
        self._alive = list(trackers)
        self._observer = observer

    def tell(self, what: Callable[[Tracker], None]) -> None:
        """Do ``what`` with each tracker that has not failed yet."""
        for tracker in list(self._alive):
            try:
                what(tracker)
            except Exception as error:
                self._alive.remove(tracker)
                name, words = type(tracker).__name__, str(error).partition("\n")[0]
                self._observer.note(
                    f"{name} failed ({words}); the search goes on without it, `autotune sync` shows the rest later"
                )


class Bookkeeping:
    """Keeps a record for good, charges the time, and shows it to the trackers."""

    def __init__(self, run: Journal, budget: Budget, trackers: Trackers) -> None:
        self._run = run
        self._budget = budget
        self._trackers = trackers

    def keep(self, record: TrialRecord) -> None:
        """Journal a record, then tell the trackers."""
        self._run.append(record)
        self.charge()
        self._trackers.tell(lambda tracker: tracker.record(record))

    def charge(self) -> None:
        """Write down the time worked since the last call."""
        self._run.log_time(self._budget.unlogged_s())

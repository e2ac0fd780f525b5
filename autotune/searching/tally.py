"""Counts how trials ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from autotune.core.errors import Cause
from autotune.core.trial import Failure, SameAs, TrialRecord

__all__ = ["Tally"]


class Tally:
    """``trials`` ended, of them ``failures`` by cause and ``same`` as another. Second measurements do not count."""

    def __init__(self, records: Iterable[TrialRecord] = ()) -> None:
        self.trials = self.same = 0
        self.failures: Counter[Cause] = Counter()
        for record in records:
            self.count(record)

    def count(self, record: TrialRecord) -> None:
        """Count one more."""
        if record.trial.purpose == "front":
            return
        self.trials += 1
        self.same += isinstance(record.outcome, SameAs)
        if isinstance(record.outcome, Failure):
            self.failures[record.outcome.cause] += 1

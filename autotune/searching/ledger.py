"""What a sampler knows of the trials so far: the same after a resume as without one."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.candidate import Candidate
from autotune.core.trial import Failure, Trial, TrialRecord

__all__ = ["Ledger", "trial_id", "trial_number"]

Place = tuple[str, Candidate]


def trial_id(number: int) -> str:
    """``t0007`` for 7."""
    return f"t{number:04d}"


def trial_number(id: str) -> int | None:
    """7 for ``t0007``; None for the id of a trial that measured the front again (``f0003``)."""
    return int(id[1:]) if id[:1] == "t" and id[1:].isdigit() else None


class Ledger:
    """Records told and trials given out. Trials that measured the front again are no part of it."""

    def __init__(self) -> None:
        self._numbers: set[int] = set()
        self._next = 1
        self._seen: set[Place] = set()
        self._pending: dict[str, Trial] = {}
        self._records: list[TrialRecord] = []
        self._repeats = 0
        self._lost: dict[Place, bool] = {}
        self.baseline: TrialRecord | None = None

    def give(self, trial: Trial) -> None:
        """Note a trial that was handed out."""
        self._note(trial)
        self._pending[trial.id] = trial

    def take(self, record: TrialRecord) -> bool:
        """Note how a trial ended, asked for here or not; False when it is no part of this, or known already."""
        if record.trial.purpose == "front" or any(known.trial.id == record.trial.id for known in self._same(record)):
            return False
        if record.trial.id not in self._pending:
            self._note(record.trial)
        self._pending.pop(record.trial.id, None)
        self._records.append(record)
        self._note_lost(record)
        if self.baseline is None and record.trial.purpose == "baseline" and record.measurement:
            self.baseline = record
        return True

    def next_number(self) -> int:
        """The smallest number without a trial. After a crash, the numbers of trials that were lost come first."""
        while self._next in self._numbers:
            self._next += 1
        return self._next

    def knows(self, device: str, candidate: Candidate) -> bool:
        """Whether that candidate ran there, or is running."""
        return (device, candidate) in self._seen

    @property
    def lost_once(self) -> Place | None:
        """The first candidate whose only trial was lost to something else (its executor died): it is owed another."""
        return next((place for place, owed in self._lost.items() if owed), None)

    @property
    def may_begin(self) -> bool:
        """Whether the baseline may be tried: for the first time, or once more when its trial was lost to something else."""
        lost = [isinstance(record.outcome, Failure) and record.outcome.cause == "lost" for record in self._records]
        return not self._pending and len(lost) < 2 and all(lost)

    @property
    def repeats(self) -> int:
        """Baseline trials handed out or told: the next one's ``repeat``."""
        return self._repeats

    @property
    def records(self) -> Sequence[TrialRecord]:
        """In the order in which they were told."""
        return self._records

    @property
    def pending(self) -> Sequence[Trial]:
        """Handed out, not ended."""
        return list(self._pending.values())

    def _note_lost(self, record: TrialRecord) -> None:
        place = record.trial.device, record.trial.candidate
        lost = isinstance(record.outcome, Failure) and record.outcome.cause == "lost"
        if record.trial.purpose == "search" and lost and place not in self._lost:
            self._lost[place] = True

    def _same(self, record: TrialRecord) -> list[TrialRecord]:
        number = trial_number(record.trial.id)
        if number not in self._numbers or record.trial.id in self._pending:
            return []
        return [known for known in self._records if known.trial.id == record.trial.id]

    def _note(self, trial: Trial) -> None:
        number = trial_number(trial.id)
        if number is not None:
            self._numbers.add(number)
        place = trial.device, trial.candidate
        self._seen.add(place)
        if place in self._lost and trial.purpose == "search":
            self._lost[place] = False
        self._repeats += trial.purpose == "baseline"

"""What a sampler costs the search: seconds for an ask and a tell, once many trials are known."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from autotune.core.candidate import Candidate
from autotune.core.ports import Sampler
from autotune.core.trial import Failure, Outcome, Trial, TrialRecord
from autotune.runs.search_file import SearchFile
from autotune.testing.fake_search import fake_search, fake_space, respond
from autotune.testing.surface import Surface

__all__ = ["ask_tell_s"]


def ask_tell_s(
    make: Callable[[SearchFile], Sampler], trials: int = 1000, timed: int = 20, seed: int = 0
) -> list[float]:
    """Tell ``trials`` records of a made-up search with four objectives, then time that many rounds of ask and tell.

    ``make`` gives a new sampler for a search. One trial in five fails. Returns seconds per round, shape ``[timed]``.
    """
    search = fake_search(fake_space(batches=10, blocks=8), limits=("fidelity>=0.98",), seed=seed)
    surface = _LazySurface({}, search.space.baseline)
    sampler = make(search)
    clock_s = 0.0
    seconds: list[float] = []
    for number in range(trials + timed):
        began = time.perf_counter()
        trial = sampler.ask()
        asked = time.perf_counter() - began
        if trial is None:
            break
        record = _record(trial, surface.outcome(trial), clock_s)
        clock_s = record.finished_s
        began = time.perf_counter()
        sampler.tell(record)
        if number >= trials:
            seconds.append(asked + time.perf_counter() - began)
    return seconds


class _LazySurface(Surface):
    """Responds when asked, so that a large space need not be tabulated; one candidate in five fails."""

    def outcome(self, trial: Trial) -> Outcome:
        table = {candidate: respond(candidate) for candidate in (trial.candidate, self.baseline)}
        if trial.purpose == "search" and _unlucky(trial.candidate):
            return Failure(stage="build", cause="unsupported", message="this candidate cannot be built")
        return Surface(table, self.baseline).outcome(trial)


def _unlucky(candidate: Candidate) -> bool:
    return random.Random(candidate.text).random() < 0.2


def _record(trial: Trial, outcome: Outcome, began_s: float) -> TrialRecord:
    return TrialRecord(trial=trial, started_s=began_s, finished_s=began_s + 3.0, outcome=outcome)

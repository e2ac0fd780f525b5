from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from autotune.core.front import Front
from autotune.core.trial import Trial, TrialRecord
from autotune.core.watching import Progress, Watched
from autotune.runs.search_file import SearchFile
from autotune.searching import Budget, Ending, Plans, Stop, finish, search
from autotune.searching.optuna_sampler import OptunaSampler
from autotune.testing.fake_executor import FakeExecutor
from autotune.testing.fake_run import FakeRun
from autotune.testing.fake_search import respond
from autotune.testing.surface import Surface, tabulate
from autotune.testing.virtual_clock import VirtualClock


@dataclass
class Watcher:
    notes: list[str] = field(default_factory=list)
    progress: list[Progress] = field(default_factory=list)
    on_finished: Callable[[int], None] = lambda _: None

    def began(self, search: Watched, spent_s: float) -> None: ...

    def ended(self) -> None: ...

    def started(self, trial: Trial) -> None: ...

    def finished(self, record: TrialRecord, progress: Progress) -> None:
        self.progress.append(progress)
        self.on_finished(len(self.progress))

    def note(self, text: str) -> None:
        self.notes.append(text)


class Desk:
    """A search in virtual time, with everything it touches at hand."""

    def __init__(
        self,
        asked: SearchFile,
        surface: Surface | None = None,
        records: Iterable[TrialRecord] = (),
        spent_s: float = 0.0,
        trackers: Sequence[Any] = (),
        slots: int = 1,
    ) -> None:
        self.asked = asked
        self.clock = VirtualClock()
        self.surface = surface or Surface(tabulate(asked.space, respond), asked.space.baseline)
        self.executor = FakeExecutor(self.surface, self.clock, slots)
        self.run = FakeRun(asked, records, spent_s)
        self.budget = Budget(asked.budget_s, self.clock, self.run.spent_s())
        self.plans = Plans(asked.budget_s, phases=2)
        self.stop = Stop()
        self.watcher = Watcher()
        self.trackers = trackers

    def search(self) -> Ending:
        sampler = OptunaSampler(self.asked.space, self.asked.context, self.plans, self.asked.max_trials)
        return search(
            sampler,
            self.executor,
            self.run,
            self.budget,
            self.trackers,
            self.clock,
            plans=self.plans,
            stop=self.stop,
            observer=self.watcher,
        )

    def finish(self) -> Front:
        return finish(
            self.executor, self.run, self.budget, self.trackers, plans=self.plans, stop=self.stop, observer=self.watcher
        )

    @property
    def searched(self) -> list[Trial]:
        return [record.trial for record in self.run.records() if record.trial.purpose != "front"]


@pytest.fixture
def desk() -> type[Desk]:
    return Desk

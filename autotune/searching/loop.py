"""The search: fill free slots, wait, keep what ended, learn from it, until there is a reason to stop."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

from autotune.core.clock import Clock
from autotune.core.errors import OutOfTime
from autotune.core.ports import Executor, Sampler, Tracker
from autotune.core.trial import Failure, Trial, TrialRecord
from autotune.core.watching import Observer, Progress, Silent
from autotune.searching.bookkeeping import Bookkeeping, Trackers
from autotune.searching.budget import Budget
from autotune.searching.ending import Ending, Reason
from autotune.searching.found import MORE_TIME, NOT_MEASURED
from autotune.searching.objectives import usable_objectives
from autotune.searching.patience import Patience
from autotune.searching.plans import Plans, duration_s
from autotune.searching.reserve import OVERRUN_S, closing_s, reserve_s
from autotune.searching.roles import Journal, Stop
from autotune.searching.running_front import RunningFront
from autotune.searching.tally import Tally
from autotune.searching.unrunnable import does_not_run

__all__ = ["search"]

_POLL_S = 1.0  # how long a stop request or a deadline may go unnoticed
_RECENT = 40
_FIRST_TRIALS = 8  # of a simulated search, however small its budget is: some tenths of a second each


def search(  # noqa: PLR0913
    sampler: Sampler,
    executor: Executor,
    run: Journal,
    budget: Budget,
    trackers: Sequence[Tracker],
    clock: Clock,
    *,
    plans: Plans,
    stop: Stop | None = None,
    observer: Observer | None = None,
) -> Ending:
    """Search until the budget (less what the front's second measurement needs), the space, the patience or the number of
    trials is used up, or ``stop`` is requested. Records already in ``run`` are told first: that is resume.

    Raises ``AllTrialsFailed`` when the unmodified model does not run, ``OutOfTime`` when it was not measured in time.
    """
    return _Search(sampler, executor, run, budget, trackers, clock, plans, stop or Stop(), observer or Silent()).run()


@dataclass
class _Search:
    sampler: Sampler
    executor: Executor
    folder: Journal
    budget: Budget
    views: Sequence[Tracker]
    clock: Clock
    plans: Plans
    stop: Stop
    observer: Observer

    def __post_init__(self) -> None:
        asked = self.folder.search
        self._trackers = Trackers(self.views, self.observer)
        self._books = Bookkeeping(self.folder, self.budget, self._trackers)
        self._devices = [device.name for device in asked.devices]
        self._max_trials = asked.max_trials
        self._front = RunningFront(asked.objectives, asked.context.limits)
        self._patience = Patience(asked.patience)
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._lost = 0
        self._running: dict[str, Trial] = {}
        self._held: Trial | None = None
        self._tally = Tally()

    def run(self) -> Ending:
        """Recall what is known, then take turns."""
        try:
            self._recall()
            while True:
                reason = self._turn()
                if reason is not None:
                    return Ending(reason, self._tally.trials, self.stop.signal)
        finally:
            self._books.charge()

    def _recall(self) -> None:
        for record in self.folder.records():
            self._learn(record)
            self._trackers.tell(lambda tracker, record=record: tracker.record(record))  # type: ignore[misc]

    def _turn(self) -> Reason | None:
        if self.stop.requested:
            return self._abandon("stopped")
        reason = self._fill()
        if self._running:
            for record in self.executor.wait(_POLL_S):
                self._take(record)
        elif reason is not None:
            return reason
        else:
            self.clock.sleep(_POLL_S / 10)  # no slot is free although nothing of ours runs
        self._books.charge()
        late = self.budget.left_s() <= self._last_moment_s() and not self._owes_first_trials(self._tally.trials)
        return self._abandon("budget") if self._running and late else None

    def _fill(self) -> Reason | None:
        """Start trials while slots are free; return why no more are started, None when slots are what is missing."""
        while any(self.executor.free_slots(device) > 0 for device in self._devices):
            reason = self._enough()
            if reason is not None:
                return reason
            trial = self._next()
            if trial is None:
                return "exhausted"
            if self.executor.free_slots(trial.device) < 1:
                return None
            self._held = None
            self._start(trial)
        return None

    def _next(self) -> Trial | None:
        """The trial to start next, asked for once; None when the space has no more."""
        self._held = self._held or self.sampler.ask()
        return self._held

    def _start(self, trial: Trial) -> None:
        self._running[trial.id] = trial
        self.executor.submit(trial, self._front.bar() if trial.purpose == "search" else ())
        self.observer.started(trial)

    def _enough(self) -> Reason | None:
        if self._max_trials is not None and self._tally.trials + len(self._running) >= self._max_trials:
            return "trials"
        if self._patience.used_up:
            return "patience"
        begun = self._tally.trials + len(self._running)
        short = self.budget.left_s() - self._reserve_s() < self._expected_s()
        if short and not self._owes_first_trials(begun):  # what a search ended for, a resume says too
            return "budget" if self._next() else "exhausted"
        return None

    def _owes_first_trials(self, trials: int) -> bool:
        """Whether so many trials are less than a simulated search tries first, whose start alone may take a small budget."""
        asked = self.folder.search
        if asked.kind != "simulated" or self.budget.left_s() < -OVERRUN_S:
            return False
        firsts = asked.space.screened or asked.space.experts
        return trials <= min(len(firsts), _FIRST_TRIALS)

    def _take(self, record: TrialRecord) -> None:
        self._running.pop(record.trial.id, None)
        self._books.keep(record)
        self._learn(record)
        self.observer.finished(record, self._progress())

    def _learn(self, record: TrialRecord) -> None:
        if record.trial.purpose == "front":
            return
        self._tally.count(record)
        self._recent.append(duration_s(record))
        self.sampler.tell(record)
        self._refuse_broken_baseline(record)
        known = self._front.baseline is not None
        news = self._front.add(record)
        if not known:
            self._say_dropped_objectives()
        if record.trial.purpose == "search" and record.measurement:
            self._patience.count(news)

    def _say_dropped_objectives(self) -> None:
        if self._front.baseline is not None:
            for _, why in usable_objectives(self.folder.search.objectives, self._front.baseline)[1]:
                self.observer.note(why)

    def _refuse_broken_baseline(self, record: TrialRecord) -> None:
        if record.trial.purpose == "baseline" and self._front.baseline is None and isinstance(record.outcome, Failure):
            failure = record.outcome
            self._lost += failure.cause == "lost"
            if failure.cause == "lost" and self._lost < 2:
                return  # what ended it was not the model: the sampler asks for it once more
            raise does_not_run(failure, self.folder.search)

    def _abandon(self, reason: Reason) -> Reason:
        """End what is running: it leaves no record, and is asked for again after a resume."""
        self.executor.cancel()
        self._running.clear()
        if reason == "budget" and self._front.baseline is None:
            raise OutOfTime(NOT_MEASURED, MORE_TIME)
        return reason

    def _expected_s(self) -> float:
        """What a trial takes: four of five of the recent ones took no longer. 0 before the first."""
        if len(self._recent) < 2:
            return sum(self._recent)
        return quantiles(self._recent, n=5, method="inclusive")[-1]

    def _reserve_s(self) -> float:
        total_s = self.budget.total_s
        if self.folder.search.kind == "simulated":  # nothing is measured again
            return 0.0 if total_s is None else closing_s(total_s)
        return reserve_s(self.budget.total_s, self.plans, self._front.baseline, len(self._front.records))

    def _last_moment_s(self) -> float:
        """Time left when a trial that overran its estimate is ended: half of the reserve stays for the front."""
        return self._reserve_s() / 2 if self.budget.total_s is not None else float("-inf")

    def _progress(self) -> Progress:
        return Progress(
            trials=self._tally.trials,
            failures=self._tally.failures,
            same=self._tally.same,
            spent_s=self.budget.spent_s(),
            front=self._front.records,
            baseline=self._front.baseline,
        )

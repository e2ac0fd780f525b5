"""The front measured again, fresh and paired: the best of many noisy trials looks better than it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from autotune.core.errors import AllTrialsFailed
from autotune.core.keys import trial_key
from autotune.core.plan import Plan
from autotune.core.ports import Executor, Tracker
from autotune.core.trial import Trial, TrialRecord
from autotune.core.watching import Observer, Progress, Silent
from autotune.searching.bookkeeping import Bookkeeping, Trackers
from autotune.searching.budget import Budget
from autotune.searching.contenders import Contender
from autotune.searching.found import Found, Place, confirmed, found_by_searching, place_of
from autotune.searching.plans import Plans, duration_s, overhead_s
from autotune.searching.reserve import MOST_POINTS, OVERRUN_S, closing_s
from autotune.searching.roles import Journal, Stop
from autotune.searching.settled import LEAST_LOOKS, MOST_LOOKS, would_gain
from autotune.searching.shortlist import by_importance
from autotune.searching.tally import Tally

__all__ = ["remeasure"]

_POLL_S = 1.0


def remeasure(
    executor: Executor,
    run: Journal,
    budget: Budget,
    trackers: Sequence[Tracker],
    *,
    plans: Plans,
    stop: Stop | None = None,
    observer: Observer | None = None,
) -> None:
    """Measure the baseline afresh and the front's points in pairs with it, the most telling points first.

    Time decides how many and how long: points share what is left of the budget evenly, down to the shortest plan that is
    worth it; those that do not fit are left out. Points that only noise may have kept off the front are measured too, where
    the plan that the budget wants fits them all. Where time allows, the points that stayed are measured three times, and those
    still in doubt up to five: fresh processes differ, and a disturbed minute is not the last word. Nothing is started that
    would not end in time, nothing runs past the budget + 5 s, and what was measured since the latest search trial is kept.
    """
    _Remeasuring(executor, run, budget, trackers, plans, stop or Stop(), observer or Silent()).run()


@dataclass
class _Remeasuring:
    executor: Executor
    folder: Journal
    budget: Budget
    trackers: Sequence[Tracker]
    plans: Plans
    stop: Stop
    observer: Observer

    def __post_init__(self) -> None:
        self._books = Bookkeeping(self.folder, self.budget, Trackers(self.trackers, self.observer))
        self._records = self.folder.records()
        self._slowest: dict[bool, float] = {}
        for record in self._records:
            self._time(record)
        self._needed = 0

    def run(self) -> None:
        found = self._found()
        if found is None:
            return
        home, fresh = found.baseline.record, _fresh(self._records)
        ranked = [*by_importance(found.points), *by_importance(found.hopefuls)]
        points = [one for one in ranked if place_of(one.record) not in fresh][:MOST_POINTS]
        self._needed = sum(one in found.points for one in points)
        try:
            if place_of(home) not in fresh:
                self._measure_home(home, points)
            if points:
                self._measure_points(home, points)
            while self._look_again(home):
                pass
        finally:
            self._books.charge()

    def _found(self) -> Found | None:
        try:
            return found_by_searching(self._records, self.folder.search)
        except AllTrialsFailed:
            return None

    def _measure_home(self, home: TrialRecord, points: list[Contender]) -> None:
        plan, _ = self._fit(home, points, beside=1)
        if plan is not None:
            self._one(home.trial, self.plans.fresh_baseline(plan), None)

    def _measure_points(self, home: TrialRecord, points: list[Contender]) -> None:
        """The time left is shared out again: by now it is known what the baseline took."""
        plan, fitting = self._fit(home, points, beside=0)
        done = 0
        while plan is not None and done < len(fitting) and self._one(fitting[done].record.trial, plan, home.trial.id):
            done += 1
        if done < self._needed:
            left = self._needed - done
            were = "was" if left == 1 else "were"
            self.observer.note(f"{left} of {self._needed} points of the front {were} not measured again")

    def _look_again(self, home: TrialRecord) -> bool:
        """One more look at the points that stayed on the front and gain from it; False when there was time for none."""
        found = self._found()
        shown = found and confirmed(found, self._records, self.folder.search)
        if shown is None:
            return False
        paired = [one for one in by_importance(shown.verdicts.kept) if one.record.trial.plan.paired]
        plan, gaining = self._more(home, paired)
        return plan is not None and all(self._one(one.record.trial, plan, home.trial.id) for one in gaining)

    def _more(self, home: TrialRecord, kept: Sequence[Contender]) -> tuple[Plan | None, list[Contender]]:
        """As many of the points as gain from an even share of the time left, and the plan that fits it: every point's next
        look comes before another's after next, and more looks before longer ones.
        """
        looks = Counter(place_of(record) for record in self._records if record.trial.purpose == "front")
        beside_s = max((overhead_s(one.record) for one in kept), default=None)
        for count, to_come in product(range(len(kept), 0, -1), range(MOST_LOOKS - 1, 0, -1)):
            plan = self._share(home, count * to_come, beside_s)
            gaining = [one for one in kept if plan and would_gain(one.record, looks[place_of(one.record)], plan)]
            if len(gaining) >= count:
                return plan, gaining[:count]
        return None, []

    def _share(self, home: TrialRecord, trials: int, beside_s: float | None = None) -> Plan | None:
        """The longest plan under which so many paired trials fit in the time left."""
        bounded = self.budget.total_s is not None
        per_point_s = self._left_s() / trials if bounded else self.plans.wanted_pair_s(home)
        return self.plans.front(home, per_point_s, beside_s)

    def _fit(self, baseline: TrialRecord, points: list[Contender], beside: int) -> tuple[Plan | None, list[Contender]]:
        """The longest plan under which the points, and ``beside`` more trials, fit: all of them, or those that fit well, or as
        many of the needed ones as fit under the shortest. Hopefuls wait for the needed ones' second look.
        """
        if self.budget.total_s is None:
            return self._share(baseline, 1), points
        left, wanted_s = self._left_s(), self.plans.wanted_pair_s(baseline)
        well = int(left / wanted_s) - beside
        somehow = int(left / self.plans.shortest_pair_s(baseline)) - beside
        count = min(len(points), max(well - self._needed, min(somehow, self._needed)))
        if count < 0 or (count == 0 and points and beside == 0):
            return None, []
        again = max((more for more in range(MOST_LOOKS) if count + more * self._needed <= well), default=0)
        share_s = left / (count + again * self._needed + beside)
        if again + 1 < LEAST_LOOKS or not points:
            share_s = min(share_s, wanted_s)  # what is left is for more looks at those that stay, not for longer ones
        return self.plans.front(baseline, share_s), points[:count]

    def _left_s(self) -> float:
        total = self.budget.total_s
        return self.budget.left_s() - (0.0 if total is None else closing_s(total))

    def _one(self, of: Trial, plan: Plan, parent: str | None) -> bool:
        """Run one trial to its end; False when it was stopped, or would not have ended in time."""
        if self.stop.requested or self._slowest.get(plan.paired, 0.0) > self._left_s():
            return False
        trial = self._trial(of, plan, parent)
        self.executor.submit(trial)
        self.observer.started(trial)
        while not self.stop.requested and self.budget.left_s() > -OVERRUN_S:
            ended = self.executor.wait(_POLL_S)
            self._books.charge()
            for record in ended:
                self._keep(record)
            if ended:
                return True
        self.executor.cancel()
        return False

    def _trial(self, of: Trial, plan: Plan, parent: str | None) -> Trial:
        number = 1 + max((_front_number(record.trial.id) for record in self._records), default=0)
        earlier = [record.trial for record in self._records if record.trial.candidate == of.candidate]
        repeat = 1 + max((trial.repeat for trial in earlier if trial.device == of.device), default=0)
        key = trial_key(self.folder.search.context, of.candidate, of.device, plan, repeat)
        return Trial(
            id=f"f{number:04d}",
            key=key,
            parent=parent,
            candidate=of.candidate,
            device=of.device,
            plan=plan,
            repeat=repeat,
            purpose="front",
        )

    def _keep(self, record: TrialRecord) -> None:
        self._records.append(record)
        self._time(record)
        self._books.keep(record)
        self.observer.finished(record, self._progress())

    def _time(self, record: TrialRecord) -> None:
        if record.trial.purpose == "front":
            paired = record.trial.plan.paired
            self._slowest[paired] = max(self._slowest.get(paired, 0.0), duration_s(record))

    def _progress(self) -> Progress:
        found = self._found()
        tally = Tally(self._records)
        return Progress(
            trials=tally.trials,
            failures=tally.failures,
            same=tally.same,
            spent_s=self.budget.spent_s(),
            front=tuple(one.record for one in found.verdicts.kept) if found else (),
            baseline=found.baseline.record if found else None,
        )


def _fresh(records: Sequence[TrialRecord]) -> set[Place]:
    """Points measured again since the latest search trial: a process before this one was ended while doing so."""
    fresh: set[Place] = set()
    for record in records:
        if record.trial.purpose == "front":
            fresh.add(place_of(record))
        else:
            fresh.clear()
    return fresh


def _front_number(id: str) -> int:
    return int(id[1:]) if id[:1] == "f" and id[1:].isdigit() else 0

"""The order in which any sampler of ours tries things, whatever proposes the candidates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from statistics import fmean

from autotune.core.assignment import SearchContext
from autotune.core.candidate import Candidate
from autotune.core.keys import trial_key
from autotune.core.plan import Plan
from autotune.core.space import SearchSpace
from autotune.core.trial import Purpose, Trial, TrialRecord
from autotune.searching.ledger import Ledger, trial_id
from autotune.searching.plans import Plans, duration_s
from autotune.searching.starts import Starts
from autotune.searching.unseen import Unseen

__all__ = ["Place", "TrialSequence"]

Place = tuple[str, Candidate]

_REPEAT_EVERY = 10
_SMALL = 32  # a space of so few points is always enumerated
_ENUMERABLE = 200  # a larger one is explored best first, although TPE without repeats ends up enumerating it as well
_USABLE = 0.75  # share of the budget that search trials get, for the estimate of what fits


class TrialSequence(ABC):
    """A ``Sampler``: baseline, then starting points (``starts``), then the rest; the baseline again every tenth trial.

    The n-th trial depends on n, the seed and the records told before, never on time or on this process: after a resume the
    search goes on as if nothing had happened. A candidate is tried twice on a device only when its first trial was lost
    to something else.
    """

    def __init__(self, space: SearchSpace, context: SearchContext, plans: Plans, max_trials: int | None = None) -> None:
        self.space = space
        self.context = context
        self.ledger = Ledger()
        self._plans = plans
        self._max_trials = max_trials
        self._devices = tuple(device.name for device in context.devices)
        self._unseen = Unseen(space, self._devices, self.ledger, context.seed)
        self._plan: Plan | None = None
        self._simulated = context.devices[0].kind == "simulated"  # then a repeat would tell nothing
        self._starts = Starts(space, self._devices if self._simulated else self._devices[:1], self.ledger)

    @abstractmethod
    def propose(self, seed: str) -> Place:
        """A promising candidate. When it was tried already, the nearest one that was not is taken."""

    @abstractmethod
    def learn(self, record: TrialRecord) -> None:
        """Take in a record of the search or the baseline."""

    def ask(self) -> Trial | None:
        """The next trial; None when nothing is left, or while the baseline is still running."""
        if self.ledger.baseline is None:
            return self._baseline_trial(self.ledger.next_number()) if self.ledger.may_begin else None
        number = self.ledger.next_number()
        place = self._next_place(number)
        if place is None:
            return None
        if number % _REPEAT_EVERY == 1 and not self._simulated:
            return self._baseline_trial(number)
        return self._give(number, place, self._search_plan(), 0, "search")

    def tell(self, record: TrialRecord) -> None:
        """Learn from a record, asked for or not."""
        if self.ledger.take(record):
            if record.trial.purpose == "search" and self._plan is None:
                self._plan = record.trial.plan  # a resumed search goes on with its plan, whatever the new budget is
            self.learn(record)

    def _next_place(self, number: int) -> Place | None:
        if (owed := self.ledger.lost_once) is not None:
            return owed
        left = self._trials_left()
        start = self._starts.next(len(self.ledger.records) + left)
        if start is not None:
            return start
        if self._unseen.count(int(max(_SMALL, min(left, _ENUMERABLE)))) is not None:
            return self._unseen.next()
        seed = f"{self.context.seed} {number}"
        place = self.propose(seed)
        if not self.ledger.knows(*place):
            return place
        return self._unseen.near(*place, seed) or self._unseen.at_random(seed)

    def _trials_left(self) -> float:
        """How many more fit in the rest of the budget, as far as those so far tell; infinite where nothing bounds them."""
        searched = [duration_s(record) for record in self.ledger.records if record.trial.purpose == "search"]
        fits = float("inf")
        if self._plans.budget_s is not None and searched:
            used = sum(duration_s(record) for record in self.ledger.records)
            fits = (self._plans.budget_s * _USABLE - used) / max(fmean(searched), 1e-3)
        if self._max_trials is not None:
            fits = min(fits, self._max_trials - len(self.ledger.records))
        return max(fits, 0.0)

    def _baseline_trial(self, number: int) -> Trial:
        first = self.ledger.baseline is None
        plan = self._plans.baseline() if first else self._search_plan()
        return self._give(number, (self._devices[0], self.space.baseline), plan, self.ledger.repeats, "baseline")

    def _search_plan(self) -> Plan:
        assert self.ledger.baseline is not None
        if self._plan is None:
            self._plan = self._plans.search(self.ledger.baseline)
        return self._plan

    def _give(self, number: int, place: Place, plan: Plan, repeat: int, purpose: Purpose) -> Trial:
        device, candidate = place
        baseline = self.ledger.baseline
        trial = Trial(
            id=trial_id(number),
            key=trial_key(self.context, candidate, device, plan, repeat),
            parent=baseline.trial.id if baseline and purpose == "search" else None,
            candidate=candidate,
            device=device,
            plan=plan,
            repeat=repeat,
            purpose=purpose,
        )
        self.ledger.give(trial)
        return trial

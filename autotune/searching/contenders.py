"""Which measured trials belong on the front, and why the others do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autotune.core.candidate import Candidate
from autotune.core.front import BASELINE_ID
from autotune.core.limits import Limit
from autotune.core.pareto import non_dominated
from autotune.core.trial import Measurement, TrialRecord
from autotune.searching.axes import Axis, Interval
from autotune.searching.feasibility import first_broken

__all__ = ["Contender", "Verdicts", "baseline_contender", "contender", "judge"]


@dataclass(frozen=True, eq=False)
class Contender:
    """A measured trial among those compared: costs and cost intervals per axis, what counts as an
    advantage there (``firm``), and how far it is from the baseline.

    ``name`` is what a person knows it by: the id of the trial that found it.
    """

    name: str
    record: TrialRecord
    measurement: Measurement
    costs: tuple[float, ...]
    intervals: tuple[Interval, ...]
    firm: tuple[Interval, ...]
    changes: int

    def tells_apart(self, other: Contender) -> bool:
        """Whether some objective tells the two apart beyond its intervals."""
        return any(a[1] < b[0] or b[1] < a[0] for a, b in zip(self.intervals, other.intervals, strict=True))

    def certainly_better_somewhere(self, other: Contender) -> bool:
        """Whether some objective says that this one is better, beyond the intervals."""
        return _ahead(self.intervals, other.intervals)

    def has_advantage(self, other: Contender) -> bool:
        """The same, but quality counts by its value: see ``Axis.firm``."""
        return _ahead(self.firm, other.firm)


@dataclass(frozen=True)
class Verdicts:
    """``kept``: the front. ``reasons``: for each other's name, why it is not on it. ``close``: those that are not kept, but
    that values alone would have put there: noise may hide that they belong there.
    """

    kept: tuple[Contender, ...]
    reasons: dict[str, str]
    close: tuple[Contender, ...]


def contender(
    name: str, record: TrialRecord, axes: Sequence[Axis], drift: Mapping[str, float], baseline: Candidate
) -> Contender | None:
    """Place a trial on the axes; None when it was not measured on all of them."""
    measurement = record.measurement
    if measurement is None or not all(axis.known(measurement) for axis in axes):
        return None
    costs = tuple(axis.cost(measurement) for axis in axes)
    intervals = tuple(axis.interval(measurement, drift) for axis in axes)
    return Contender(
        name=name,
        record=record,
        measurement=measurement,
        costs=costs,
        intervals=intervals,
        firm=_firm(axes, intervals, costs),
        changes=_changes(record.trial.candidate, baseline),
    )


def baseline_contender(record: TrialRecord, axes: Sequence[Axis], drift: Mapping[str, float]) -> Contender:
    """Place the baseline, which was measured, on the axes."""
    measurement = record.measurement
    assert measurement is not None
    costs = tuple(axis.baseline_cost(measurement) for axis in axes)
    intervals = tuple(axis.baseline_interval(measurement, drift) for axis in axes)
    return Contender(
        name=BASELINE_ID,
        record=record,
        measurement=measurement,
        costs=costs,
        intervals=intervals,
        firm=_firm(axes, intervals, costs),
        changes=0,
    )


def judge(baseline: Contender, others: Sequence[Contender], limits: Sequence[Limit]) -> Verdicts:
    """Decide who is on the front.

    In this order: a broken limit; nothing in which it is certainly better than a feasible baseline; another point at least
    as good in everything; another point over which it has no advantage (and which has one over it, or fewer changes).
    """
    reasons: dict[str, str] = {}
    feasible = [one for one in (baseline, *others) if _within(one, limits, reasons)]
    better = [one for one in feasible if one is baseline or _worth_it(one, baseline, feasible, reasons)]
    efficient = _efficient(better, reasons)
    kept = _settled(efficient, reasons)
    close = [one for one in _efficient(feasible, {}) if one not in kept]
    return Verdicts(tuple(kept), reasons, tuple(close))


def _within(one: Contender, limits: Sequence[Limit], reasons: dict[str, str]) -> bool:
    broken = first_broken(limits, one.measurement.metrics)
    if broken is not None:
        value = one.measurement.metrics.get(broken.metric)
        sure = value is not None and broken.standing(value) == "broken"
        words = "breaks" if sure else "does not surely hold"
        reasons[one.name] = f"{words} the limit {broken.text}"
    return broken is None


def _worth_it(one: Contender, baseline: Contender, feasible: Sequence[Contender], reasons: dict[str, str]) -> bool:
    if baseline not in feasible or one.certainly_better_somewhere(baseline):
        return True
    same = not one.tells_apart(baseline)
    reasons[one.name] = "not distinguishable from the baseline" if same else "better than the baseline in nothing"
    return False


def _efficient(contenders: Sequence[Contender], reasons: dict[str, str]) -> list[Contender]:
    if not contenders:
        return []
    costs = np.array([one.costs for one in contenders])
    mask = non_dominated(costs)
    for index in map(int, np.flatnonzero(~mask)):
        beaten_by = int(next(i for i in np.flatnonzero(mask) if np.all(costs[i] <= costs[index])))
        reasons[contenders[index].name] = f"{contenders[beaten_by].name} is at least as good in every objective"
    return [one for one, efficient in zip(contenders, mask, strict=True) if efficient]


def _settled(contenders: Sequence[Contender], reasons: dict[str, str]) -> list[Contender]:
    """Of the efficient points, leave those that have an advantage over each other one; of twins, the one with fewer
    changes. Being certain is not transitive, so what fell to a point that fell itself is looked at again.
    """
    kept: list[Contender] = []
    fell_to: dict[Contender, Contender] = {}
    for one in sorted(contenders, key=lambda one: (one.changes, one.costs)):
        winner = _covered_by(one, kept)
        if winner is not None:
            fell_to[one] = winner
            continue
        fell_to |= {known: one for known in kept if not known.has_advantage(one)}
        kept = [known for known in kept if known not in fell_to] + [one]
    for one, winner in fell_to.items():
        if winner in fell_to and _covered_by(one, kept) is None and all(known.has_advantage(one) for known in kept):
            kept.append(one)
        else:
            reasons[one.name] = _why_covered(one, _covered_by(one, kept) or winner)
    return kept


def _covered_by(one: Contender, kept: Sequence[Contender]) -> Contender | None:
    """A kept point that nothing tells this one apart from, or over which it has no advantage; None when there is none."""
    return next((known for known in kept if not one.tells_apart(known) or not one.has_advantage(known)), None)


def _why_covered(one: Contender, winner: Contender) -> str:
    if one.tells_apart(winner):
        return f"{winner.name} is better, and certainly worse in nothing"
    return f"no objective tells it apart from {winner.name}"


def _ahead(mine: Sequence[Interval], theirs: Sequence[Interval]) -> bool:
    return any(a[1] < b[0] for a, b in zip(mine, theirs, strict=True))


def _firm(axes: Sequence[Axis], intervals: Sequence[Interval], costs: Sequence[float]) -> tuple[Interval, ...]:
    return tuple(axis.firm(interval, cost) for axis, interval, cost in zip(axes, intervals, costs, strict=True))


def _changes(candidate: Candidate, baseline: Candidate) -> int:
    names = set(candidate) | set(baseline)
    return sum(candidate.get(name) != baseline.get(name) for name in names)

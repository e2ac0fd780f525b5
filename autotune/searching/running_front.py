"""The front while the search goes on: cheap to update, and aware of noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.core.limits import Limit
from autotune.core.objective import Objective
from autotune.core.trial import TrialRecord
from autotune.core.values import Value
from autotune.searching.drift import drift_of, widen
from autotune.searching.feasibility import first_broken
from autotune.searching.objectives import costs_of, usable_objectives

__all__ = ["RunningFront"]

# A gain smaller than this share of the value is no news, however narrow the intervals are.
_NEWS = 0.01


@dataclass(frozen=True)
class _Row:
    costs: tuple[float, ...]
    reach: tuple[float, ...]
    record: TrialRecord


class RunningFront:
    """Feasible, non-dominated records by their values. Until the baseline was measured, nothing is on it."""

    def __init__(self, objectives: Sequence[Objective], limits: Sequence[Limit]) -> None:
        self._wanted = tuple(objectives)
        self._limits = tuple(limits)
        self._repeats: list[TrialRecord] = []
        self._rows: list[_Row] = []
        self.objectives: tuple[Objective, ...] = ()
        self.drift: dict[str, float] = {}

    @property
    def baseline(self) -> TrialRecord | None:
        """The baseline's first measurement; None before it."""
        return self._repeats[0] if self._repeats else None

    @property
    def records(self) -> tuple[TrialRecord, ...]:
        """The front's records."""
        return tuple(row.record for row in self._rows)

    def add(self, record: TrialRecord) -> bool:
        """Take a record in; return whether it brought something new.

        New is a feasible point that no point of the front equals or beats on every objective, give or take the wider of
        both intervals, the drift and 1 %: noise alone would otherwise "change" the front for ever.
        """
        if record.trial.purpose == "baseline" and record.measurement:
            self._note_repeat(record)
            if len(self._repeats) > 1:
                return False
        row = self._row(record)
        if row is None:
            return False
        news = not any(_as_good(other, row) for other in self._rows)
        if not any(_beats(other.costs, row.costs) for other in self._rows):
            self._rows = [other for other in self._rows if not _beats(row.costs, other.costs)] + [row]
        return news

    def bar(self) -> tuple[dict[str, Value], ...]:
        """The front's metrics, one mapping a point, their intervals widened by the drift: what racing compares with."""
        return tuple(self._widened(row.record) for row in self._rows)

    def _note_repeat(self, record: TrialRecord) -> None:
        self._repeats.append(record)
        self.drift = drift_of(self._repeats)
        if not self.objectives:
            self.objectives, _ = usable_objectives(self._wanted, record)

    def _row(self, record: TrialRecord) -> _Row | None:
        costs = costs_of(record, self.objectives) if self.objectives else None
        if costs is None or record.measurement is None:
            return None
        metrics = record.measurement.metrics
        if first_broken(self._limits, metrics) is not None:
            return None
        return _Row(costs, tuple(self._reach(goal.metric, metrics[goal.metric]) for goal in self.objectives), record)

    def _reach(self, name: str, value: Value) -> float:
        low, high = widen(name, value, self.drift)
        return max((high - low) / 2, abs(value.value or 0.0) * _NEWS)

    def _widened(self, record: TrialRecord) -> dict[str, Value]:
        bar = {}
        for goal in self.objectives:
            value = record.measurement.metrics[goal.metric] if record.measurement else None
            if value is not None and value.known:
                low, high = widen(goal.metric, value, self.drift)
                bar[goal.metric] = value.model_copy(update={"low": low, "high": high})
        return bar


def _beats(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))


def _as_good(known: _Row, fresh: _Row) -> bool:
    reaches = map(max, known.reach, fresh.reach)
    return all(a <= b + reach for a, b, reach in zip(known.costs, fresh.costs, reaches, strict=True))

"""How points are compared on each objective: by paired numbers where every point has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autotune.core.objective import Objective
from autotune.core.trial import Measurement
from autotune.core.values import Value
from autotune.searching.drift import resolution, widen

__all__ = ["Axis", "axes_for"]

Interval = tuple[float, float]

_QUALITY = frozenset({"accuracy", "fidelity"})
_QUALITY_STEP = 1e-3


@dataclass(frozen=True)
class Axis:
    """``ratio``: to the baseline measured beside it; ``drop``: accuracy lost, on the same samples; ``value``: the metric."""

    objective: Objective
    kind: Literal["ratio", "drop", "value"]

    def cost(self, measurement: Measurement) -> float:
        """The point on this axis; less is better. The number must be known."""
        number = self._number(measurement)
        assert number.value is not None
        return number.value if self.kind == "drop" else self.objective.cost(number.value)

    def interval(self, measurement: Measurement, drift: Mapping[str, float]) -> Interval:
        """The costs it may really have. Paired numbers have no drift in them."""
        number = self._number(measurement)
        if self.kind == "drop":
            return number.interval()
        low, high = self._ratio_ends(number) if self.kind == "ratio" else widen(self.objective.metric, number, drift)
        ends = sorted((self.objective.cost(low), self.objective.cost(high)))
        return ends[0], ends[1]

    def firm(self, interval: Interval, cost: float) -> Interval:
        """What it takes to have an advantage: the interval, but for quality 0.1 % around the value.

        All candidates' quality is taken on the same samples, so that a difference is surer than each one's interval; and a
        loss of quality that is only likely must not hide the point that does not lose it.
        """
        quality = self.objective.metric in _QUALITY
        return (cost - _QUALITY_STEP / 2, cost + _QUALITY_STEP / 2) if quality else interval

    def baseline_cost(self, baseline: Measurement) -> float:
        """The baseline's place: paired with itself it is 1, and loses nothing."""
        if self.kind == "value":
            return self.cost(baseline)
        return self.objective.cost(1.0) if self.kind == "ratio" else 0.0

    def baseline_interval(self, baseline: Measurement, drift: Mapping[str, float]) -> Interval:
        """What the baseline may really be on this axis."""
        if self.kind == "value":
            return self.interval(baseline, drift)
        return (self.baseline_cost(baseline),) * 2

    def known(self, measurement: Measurement) -> bool:
        """Whether the measurement has a number for this axis."""
        return _known(self._table(measurement), self._name)

    def _ratio_ends(self, ratio: Value) -> Interval:
        low, high = ratio.interval()
        reach = abs(ratio.value or 0.0) * resolution(self.objective.metric)
        return min(low, (ratio.value or 0.0) - reach), max(high, (ratio.value or 0.0) + reach)

    @property
    def _name(self) -> str:
        return "accuracy_drop" if self.kind == "drop" else self.objective.metric

    def _table(self, measurement: Measurement) -> Mapping[str, Value]:
        return measurement.ratios if self.kind == "ratio" else measurement.metrics

    def _number(self, measurement: Measurement) -> Value:
        return self._table(measurement)[self._name]


def axes_for(objectives: Sequence[Objective], measurements: Iterable[Measurement]) -> tuple[Axis, ...]:
    """For each objective, the best axis on which all of ``measurements`` (the baseline not among them) have a number."""
    taken = list(measurements)
    return tuple(_axis(objective, taken) for objective in objectives)


def _axis(objective: Objective, measurements: Sequence[Measurement]) -> Axis:
    ratio, drop = Axis(objective, "ratio"), Axis(objective, "drop")
    if measurements and all(ratio.known(measurement) for measurement in measurements):
        return ratio
    if objective.metric == "accuracy" and all(drop.known(measurement) for measurement in measurements):
        return drop
    return Axis(objective, "value")


def _known(table: Mapping[str, Value], name: str) -> bool:
    return name in table and table[name].known

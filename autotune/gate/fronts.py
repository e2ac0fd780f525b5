"""A new front against an old one: the hypervolume that it dominates must not fall beyond the tolerance.

Each front's speeds, energies and sizes are taken relative to its own unmodified model, measured beside its points, because the
same machine is a third faster or slower at another time. Accuracy and fidelity are taken as they are, and as exact: both fronts
answered the same samples, which are the standard. Relative numbers are compared as logarithms. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autotune.core.environment import Environment
from autotune.core.errors import UserError
from autotune.core.front import BASELINE_ID, Front, Point
from autotune.core.metrics import find_metric
from autotune.core.values import Value
from autotune.gate.counted import Counted
from autotune.gate.evidence import LEVEL, Bounded, Evidence
from autotune.gate.judging import Levels, judge
from autotune.gate.tolerances import HYPERVOLUME
from autotune.gate.verdict import Compared, GateReport, overall
from autotune.measure.intervals import Interval

__all__ = ["gate_fronts", "hypervolume_loss"]

Costs = NDArray[np.float64]

_DRAWS = 1000
_MARGIN = 1.1  # the reference point lies a tenth of the range beyond the worst of both fronts
_LEAST_RANGE = {True: math.log(1.1), False: 0.02}  # relative, absolute: narrower ranges are noise, and are not blown up
_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class Drawn(Bounded):
    """An interval by drawing; another draw would add nothing."""

    drawn: Interval

    final = True

    @property
    def interval(self) -> Interval:
        """Of the drawn losses."""
        return self.drawn

    def confirmed(self, bound: float) -> bool:  # noqa: ARG002
        """The points were measured in fresh processes when the search measured its front again."""
        return True


def gate_fronts(
    new: Front, old: Front, names: tuple[str, str], tolerance: float, here: Environment, model: str = ""
) -> GateReport:
    """The verdict on ``new``, a front of ``model``; ``names`` are how to call the two.

    Simulated fronts are compared without any doubt.

    Raises ``UserError`` when one is simulated and the other measured, or their objectives differ.
    """
    if new.kind != old.kind:
        raise UserError(f"{names[0]} is {new.kind}, {names[1]} is {old.kind}", "compare fronts of one kind")
    evidence = hypervolume_loss(new, old)
    standing = judge({HYPERVOLUME: evidence}, {HYPERVOLUME: tolerance}, Levels.between(0.0, 1.0))[HYPERVOLUME]
    interval = evidence.interval
    entry = Compared(
        metric=HYPERVOLUME,
        standing=standing,
        loss=Value(value=interval.value, unit="1", low=interval.low, high=interval.high),
        tolerance=tolerance,
        allowed=tolerance,
        reason="points are too uncertain to tell" if standing == "undecided" else "",
    )
    verdict = overall((entry,))
    counts = f"{len(new.points)} points against {len(old.points)}, {', '.join(one.metric for one in new.objectives)}"
    remedy = ("search longer: --budget",) if verdict == "inconclusive" else ()
    return GateReport(
        verdict=verdict,
        model=model,
        head=names[0],
        baseline=names[1],
        compared=(entry,),
        machine=here if new.kind == "real" else None,
        notes=(counts,),
        remedies=remedy,
    )


def hypervolume_loss(new: Front, old: Front) -> Evidence:
    """How much less the new front dominates, 0.05 being 5 %.

    The interval is by drawing every number from a normal distribution as wide as its own interval (in logarithms where
    numbers are relative), both fronts anew each time.
    """
    metrics = _metrics(new, old)
    sides = [_numbers(front, metrics) for front in (new, old)]
    reference, scale = _frame(np.concatenate([values for values, _ in sides]), metrics)
    exact = _loss([values for values, _ in sides], reference, scale)
    if not any(errors.any() for _, errors in sides):
        return Counted(exact)
    generator = np.random.default_rng(0)
    drawn = [
        _loss([generator.normal(values, errors) for values, errors in sides], reference, scale) for _ in range(_DRAWS)
    ]
    low, high = np.quantile(drawn, [LEVEL, 1 - LEVEL])
    return Drawn(Interval(exact, float(min(low, exact)), float(max(high, exact))))


def _metrics(new: Front, old: Front) -> list[str]:
    ours, theirs = ([objective.metric for objective in front.objectives] for front in (new, old))
    if sorted(ours) != sorted(theirs):
        raise UserError(
            f"the fronts have other objectives: {', '.join(ours)}, and {', '.join(theirs)}",
            "search again with the same --objective",
        )
    return ours


def _numbers(front: Front, metrics: Sequence[str]) -> tuple[Costs, Costs]:
    """Costs ``[points, objectives]`` and their standard errors; points that lack a number are left out."""
    points = [point for point in (*front.points, front.baseline) if _known(front, point, metrics)]
    if not points:
        raise UserError(f"no point of the front of {front.search} has all of {', '.join(metrics)}", "search again")
    pairs = [[_cost(front, point, metric) for metric in metrics] for point in points]
    array = np.asarray(pairs, dtype=np.float64)
    return array[..., 0], array[..., 1]


def _known(front: Front, point: Point, metrics: Sequence[str]) -> bool:
    return all(_number(front, point, metric) is not None for metric in metrics)


def _number(front: Front, point: Point, metric: str) -> Value | None:
    """Relative to the front's own unmodified model for metrics with a unit; None: unknown."""
    if not find_metric(metric).relative:
        value = point.metrics.get(metric)
        return value if value is not None and value.known else None
    if point.id == BASELINE_ID:
        return Value(value=1.0, unit="1")
    ratio = point.ratios.get(metric)
    if ratio is not None and ratio.value:
        return ratio
    return _quotient(point.metrics.get(metric), front.baseline.metrics.get(metric))


def _quotient(mine: Value | None, theirs: Value | None) -> Value | None:
    """A ratio of two numbers that were not measured side by side: their errors add up."""
    if mine is None or theirs is None or not mine.value or not theirs.value or mine.value < 0 or theirs.value < 0:
        return None
    error = math.hypot(_log_error(mine), _log_error(theirs)) * _NORMAL_95
    ratio = mine.value / theirs.value
    return Value(value=ratio, unit="1", low=ratio * math.exp(-error), high=ratio * math.exp(error))


def _cost(front: Front, point: Point, metric: str) -> tuple[float, float]:
    """Less is better; with its standard error."""
    number, known = find_metric(metric), _number(front, point, metric)
    if known is None or known.value is None:
        raise ValueError(metric)
    sign = 1.0 if number.goal == "min" else -1.0
    if number.relative:
        return sign * math.log(known.value), _log_error(known)
    return sign * known.value, 0.0


def _log_error(value: Value) -> float:
    low, high = value.interval()
    return math.log(high / low) / 2 / _NORMAL_95 if low > 0 else 0.0


def _frame(costs: Costs, metrics: Sequence[str]) -> tuple[Costs, Costs]:
    """The reference point and the scale that both fronts share."""
    least = np.asarray([_LEAST_RANGE[find_metric(metric).relative] for metric in metrics])
    scale = np.maximum(np.ptp(costs, axis=0), least)
    return costs.min(axis=0) + _MARGIN * scale, scale


def _loss(sides: Sequence[Costs], reference: Costs, scale: Costs) -> float:
    from moocore import hypervolume

    volumes = [float(hypervolume((costs - reference) / scale, ref=np.zeros(len(scale)))) for costs in sides]
    return 1 - volumes[0] / volumes[1]

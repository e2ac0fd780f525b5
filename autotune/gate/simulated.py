"""A simulated baseline: its candidate is simulated again for the head, and the numbers are compared without any doubt. Pure.

The same code gives the same numbers, so that whatever differs comes from the head, from the device's description or from the
simulator, and no interval is needed. (Those that simulated values have say how far they may be from a real machine: that is the
same error on both sides.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autotune.core.errors import TrialError, UserError
from autotune.core.metrics import find_metric
from autotune.core.values import Value
from autotune.gate.counted import Counted
from autotune.gate.evidence import loss_of
from autotune.gate.tolerances import DEFAULTS, HYPERVOLUME
from autotune.gate.verdict import Compared, GateReport, Standing, overall

__all__ = ["SimulatedSide", "gate_simulated"]

_RELATIVE, _ABSOLUTE = 0.05, 0.01  # of an objective without a default of its own


@dataclass(frozen=True)
class SimulatedSide:
    """``text`` is how reports call it. ``failure`` None: it can run there, and ``metrics`` are its numbers."""

    text: str
    metrics: Mapping[str, Value] = field(default_factory=dict)
    failure: TrialError | None = None


def gate_simulated(
    head: SimulatedSide,
    baseline: SimulatedSide,
    objectives: Sequence[str],
    given: Mapping[str, float],
    *,
    model: str,
    notes: Sequence[str] = (),
) -> GateReport:
    """The verdict. ``baseline`` has its recorded numbers; ``objectives`` are judged, and what is ``given`` a tolerance.

    Raises ``UserError`` for a tolerance of a metric that the baseline does not know.
    """
    tolerances = _tolerances(objectives, given, baseline)
    compared = _failed(head.failure) if head.failure else _entries(head, baseline, tolerances)
    verdict = overall(compared)
    return GateReport(
        verdict=verdict,
        model=model,
        head=head.text,
        baseline=baseline.text,
        compared=compared,
        notes=("simulated: nothing was measured, and nothing is uncertain but the simulator itself", *notes),
        remedies=("if the change is intended: search again, and take a point of the new run as the baseline",)
        if verdict == "failed"
        else (),
    )


def _tolerances(objectives: Sequence[str], given: Mapping[str, float], baseline: SimulatedSide) -> dict[str, float]:
    for metric in given:
        if not _known(baseline.metrics.get(metric)):
            known = ", ".join(name for name, value in baseline.metrics.items() if _known(value))
            raise UserError(f"--tolerance {metric}: {baseline.text} does not know it", f"it knows {known}")
    return {metric: _default(metric) for metric in objectives if _known(baseline.metrics.get(metric))} | dict(given)


def _default(metric: str) -> float:
    return DEFAULTS.get(metric, _RELATIVE if metric == HYPERVOLUME or find_metric(metric).relative else _ABSOLUTE)


def _failed(failure: TrialError) -> tuple[Compared, ...]:
    return (Compared(metric="outputs", standing="worse", reason=f"it cannot run ({failure.cause}): {failure.message}"),)


def _entries(head: SimulatedSide, baseline: SimulatedSide, tolerances: Mapping[str, float]) -> tuple[Compared, ...]:
    judged = [name for name in baseline.metrics if name in tolerances]
    others = [name for name in baseline.metrics if name not in tolerances and name in head.metrics]
    return tuple(_entry(name, head, baseline, tolerances.get(name)) for name in (*judged, *others))


def _entry(metric: str, head: SimulatedSide, baseline: SimulatedSide, tolerance: float | None) -> Compared:
    mine, theirs = head.metrics.get(metric), baseline.metrics[metric]
    loss = _loss(metric, mine, theirs)
    return Compared(
        metric=metric,
        standing=_standing(loss, tolerance),
        loss=None if loss is None else Value(value=loss, unit="1", low=loss, high=loss, provenance="simulated"),
        tolerance=tolerance,
        allowed=tolerance,
        head=mine,
        baseline=theirs,
        reason="the head's is unknown" if loss is None and tolerance is not None else "",
    )


def _standing(loss: float | None, tolerance: float | None) -> Standing:
    if tolerance is None:
        return "reported"
    if loss is None:
        return "worse"
    return "within" if Counted(loss).within(tolerance, 0.0) else "worse"


def _loss(metric: str, mine: Value | None, theirs: Value) -> float | None:
    """Relative for metrics with a unit, absolute for those of unit 1; None: unknown, or relative to nothing."""
    if mine is None or mine.value is None or theirs.value is None:
        return None
    known = find_metric(metric)
    if not known.relative:
        return (theirs.value - mine.value) * (1 if known.goal == "max" else -1)
    if theirs.value == 0:
        return 0.0 if mine.value == 0 else None
    return loss_of(mine.value / theirs.value, known.goal)


def _known(value: Value | None) -> bool:
    return value is not None and value.known

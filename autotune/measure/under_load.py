"""The phases of a workload that put a session under load: all of them together, alone or beside another session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from autotune.core.clock import Clock
from autotune.core.plan import Plan
from autotune.core.ports import Session
from autotune.core.power import PowerModel
from autotune.core.values import Value
from autotune.measure.loads import Against, Measured, PhaseLoad
from autotune.measure.pieces import PiecedLoad
from autotune.measure.served_phase import ServedPhase, can_serve
from autotune.measure.served_values import (
    predicted_values,
    served_arrays,
    served_energy,
    served_notes,
    served_ratios,
    served_values,
)

__all__ = ["SERVED", "UnderLoad"]

SERVED = ("multi_stream", "server")


class UnderLoad:
    """The phases under load of one session, in order; there may be none."""

    def __init__(self, session: Session, loads: Sequence[PhaseLoad], plan: Plan, clock: Clock) -> None:
        chosen = [load for load in loads if load.phase.scenario in SERVED]
        self._phases = [ServedPhase(can_serve(session, load.phase.scenario), load, plan, clock) for load in chosen]
        alone = all(load.phase.scenario != "single_stream" for load in loads)
        self._names = ("latency", "response") if alone else ("response",)

    def expected(self) -> dict[str, Value]:
        """Profile the server phases; return what the queue model expects of them."""
        found: dict[str, Value] = {}
        for phase in self._phases:
            if phase.load.phase.scenario == "server":
                phase.take_profile()
                found |= predicted_values(phase, names=self._names)
        return found

    def add_to(self, measured: Measured, power: PowerModel | None, cpus: int, counted: bool = False) -> Measured:
        """Measure all phases, and add what they show. ``counted``: energy comes from a counter, which is not read here."""
        for phase in self._phases:
            phase.measure()
        return self._added(measured, None if counted else power, cpus)

    def add_beside(
        self,
        other: UnderLoad,
        measured: Measured,
        against: Against,
        session: Session,
        model: PowerModel | None,
        cpus: int,
    ) -> Measured:
        """Measure both sides, one stopped; add this side's metrics, the ratios, and those of a load in pieces pair by pair."""
        mine, theirs = replace(measured), Measured(metrics={})
        series: dict[str, NDArray[np.float64]] = {}
        for phase, opposite in zip(self._phases, other._phases, strict=True):
            pieces = phase.plan.piece_s
            if pieces is None:
                _while_stopped(against.session, phase.measure)
                _while_stopped(session, opposite.measure)
            else:
                both = PiecedLoad(phase, opposite, (session, against.session))
                series |= _in_pieces(both, pieces, self._names[:1], model, cpus)
        mine, theirs = self._added(mine, model, cpus), other._added(theirs, model, cpus)
        fresh = {name: value for name, value in mine.metrics.items() if name not in measured.metrics}
        return replace(
            mine,
            ratios={**measured.ratios, **served_ratios(fresh, theirs.metrics)},
            theirs={**measured.theirs, **theirs.metrics},
            arrays={**mine.arrays, **other._arrays("against_")},
            series={**measured.series, **series},
        )

    def _added(self, measured: Measured, power: PowerModel | None, cpus: int) -> Measured:
        metrics: dict[str, Value] = {}
        for phase in self._phases:
            metrics |= served_energy(phase, power, cpus) | _memory(phase) | served_values(phase, names=self._names)
        notes = [note for phase in self._phases for note in served_notes(phase)]
        return replace(
            measured,
            metrics=_joined(measured.metrics, metrics),
            arrays={**measured.arrays, **self._arrays("")},
            notes=(*measured.notes, *notes),
        )

    def _arrays(self, prefix: str) -> dict[str, NDArray[np.generic]]:
        return {name: array for phase in self._phases for name, array in served_arrays(phase, prefix).items()}


def _in_pieces(
    both: PiecedLoad, piece_s: float, names: Sequence[str], model: PowerModel | None, cpus: int
) -> dict[str, NDArray[np.float64]]:
    """The load at the phase's rate, then each side's highest rate where it is wanted."""
    both.measure(piece_s)
    session, other = both.sessions
    if both.mine.load.seek_rate:
        _while_stopped(other, both.mine.seek)
        _while_stopped(session, both.theirs.seek)
    return both.series(names, model, cpus)


def _while_stopped(other: Session, measure: Callable[[], None]) -> None:
    other.pause()
    try:
        measure()
    finally:
        other.resume()


def _memory(phase: ServedPhase) -> dict[str, Value]:
    served = phase.served
    if served is None or served.memory_bytes is None:
        return {}
    basis = "peak resident memory of the session's process, its interpreter included"
    return {"memory": Value(value=served.memory_bytes, unit="bytes", n=1, basis=basis)}


def _joined(before: Mapping[str, Value], added: Mapping[str, Value]) -> dict[str, Value]:
    """Energy stays that of the phases measured before, if there are any; memory is a peak, and so the later one."""
    return {**added, **before, **({"memory": added["memory"]} if "memory" in added else {})}

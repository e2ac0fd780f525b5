"""``measure``: one session under a workload, alone or beside another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from autotune.core.clock import Clock
from autotune.core.errors import MeasureError
from autotune.core.objective import Objective
from autotune.core.plan import Plan
from autotune.core.ports import Session
from autotune.core.power import PowerModel
from autotune.core.trial import Stopped
from autotune.core.values import Value
from autotune.measure.counters import EnergyCounter
from autotune.measure.disturbance import SystemWatch, Watch
from autotune.measure.loads import Against, Measured, PhaseLoad
from autotune.measure.pairs import PairedPhase
from autotune.measure.phase import AlonePhase
from autotune.measure.racing import certainly_dominated
from autotune.measure.rounds import Rounds
from autotune.measure.summaries import energy_values, memory_value, phase_values
from autotune.measure.under_load import SERVED, UnderLoad

__all__ = ["measure"]

Metrics = Mapping[str, Value]

_SCENARIOS = ("single_stream", "offline", *SERVED)


def measure(  # noqa: PLR0913 -- what every caller says, by name
    session: Session,
    loads: Sequence[PhaseLoad],
    plan: Plan,
    *,
    clock: Clock,
    power: PowerModel | None = None,
    cpus: int = 1,
    objectives: Sequence[Objective] = (),
    bar: Sequence[Metrics] = (),
    against: Against | None = None,
    known: Metrics | None = None,
    counter: EnergyCounter | None = None,
    watch: Watch | None = None,
) -> Measured:
    """Measure an opened, checked session: warm up, then rounds until each phase's interval is narrow enough.

    ``power`` None: energy is not estimated. ``counter`` None: energy is not counted; a counter goes before an estimate.
    ``cpus``: CPUs reserved for the session. ``watch`` None: this machine is watched for disturbances.
    ``bar``: the front's metrics, one mapping a point; a candidate that one of them certainly beats in all ``objectives`` is
    stopped after a short screen. ``known``: what is known of the candidate already (accuracy, size), for that decision.
    ``against``: measure pair by pair beside that session; ``bar`` is not used then.
    Phases under load (``server``, ``multi_stream``) come after the others; beside another session, one side is stopped
    meanwhile. Raises ``MeasureError`` when a session fails, or a phase's scenario is unknown.
    """
    _require_known(loads)
    kit = _Kit(plan, clock, watch or SystemWatch(cpus), power, cpus, counter)
    if against is not None:
        return _measure_paired(kit, session, loads, against)
    return _measure_alone(kit, session, loads, _Race(tuple(objectives), tuple(bar), known or {}))


def _require_known(loads: Sequence[PhaseLoad]) -> None:
    for load in loads:
        if load.phase.scenario not in _SCENARIOS:
            raise MeasureError("unsupported", f"a phase of scenario {load.phase.scenario!r} cannot be measured yet")


@dataclass(frozen=True)
class _Kit:
    """What every phase is measured with."""

    plan: Plan
    clock: Clock
    watch: Watch
    power: PowerModel | None
    cpus: int
    counter: EnergyCounter | None

    def under_load(self, session: Session, loads: Sequence[PhaseLoad]) -> UnderLoad:
        """The phases that put the session under load, none measured yet."""
        return UnderLoad(session, loads, self.plan, self.clock)

    def rounds(self, session: Session, load: PhaseLoad) -> Rounds:
        """Make the rounds of one phase, none taken yet."""
        return Rounds(session, load, self.plan, self.clock, self.watch, self.counter)


@dataclass(frozen=True)
class _Race:
    """What a candidate must not be certainly dominated by."""

    objectives: tuple[Objective, ...]
    bar: tuple[Metrics, ...]
    known: Metrics

    def lost(self, metrics: Metrics) -> bool:
        """Whether there is no use in measuring on."""
        return certainly_dominated({**self.known, **metrics}, self.objectives, self.bar)


def _measure_alone(kit: _Kit, session: Session, loads: Sequence[PhaseLoad], race: _Race) -> Measured:
    phases = [AlonePhase(kit.rounds(session, load)) for load in loads if load.phase.scenario not in SERVED]
    under_load = kit.under_load(session, loads)
    if race.bar and race.objectives:
        screens = [phase.screen() for phase in phases]
        screened = _summary(kit, screens)
        screened = replace(screened, metrics={**screened.metrics, **under_load.expected()})
        if race.lost({**screened.metrics, **_energy(kit, screens, shared_model=True)}):
            return replace(screened, stopped="dominated")
    for phase in phases:
        phase.measure()
    return under_load.add_to(_summary(kit, phases), kit.power, kit.cpus, counted=kit.counter is not None)


def _measure_paired(kit: _Kit, session: Session, loads: Sequence[PhaseLoad], against: Against) -> Measured:
    pairs = [
        PairedPhase(kit.rounds(session, mine), kit.rounds(against.session, theirs))
        for mine, theirs in zip(loads, against.loads, strict=True)
        if mine.phase.scenario not in SERVED
    ]
    measured = _measured_in_pairs(kit, pairs)
    mine, theirs = kit.under_load(session, loads), kit.under_load(against.session, against.loads)
    power = None if kit.counter is not None else kit.power
    return mine.add_beside(theirs, measured, against, session, power, kit.cpus)


def _measured_in_pairs(kit: _Kit, pairs: Sequence[PairedPhase]) -> Measured:
    ratios: dict[str, Value] = {}
    otherwise: dict[str, Value] = {}
    series: dict[str, NDArray[np.float64]] = {}
    for pair in pairs:
        pair.measure()
        ratios |= pair.ratios(kit.power, kit.cpus)
        otherwise |= pair.otherwise()
        series |= pair.series(kit.power, kit.cpus)
    measured = _summary(kit, [AlonePhase(pair.mine, pair.alpha, pair.finished) for pair in pairs])
    others = [pair.theirs for pair in pairs]
    return replace(
        measured,
        ratios=ratios,
        otherwise=otherwise,
        series=series,
        theirs=_summary(kit, [AlonePhase(pair.theirs, pair.alpha, pair.finished) for pair in pairs]).metrics,
        arrays={**measured.arrays, **_arrays(others, "against_")},
        steady=all(pair.steady for pair in pairs),
        longer=tuple(dict.fromkeys(metric for pair in pairs for metric in pair.longer)),
        disturbed_rounds=measured.disturbed_rounds + sum(rounds.disturbed for rounds in others),
    )


def _summary(kit: _Kit, phases: Sequence[AlonePhase]) -> Measured:
    taken = [phase.rounds for phase in phases]
    metrics: dict[str, Value] = {}
    for phase in phases:
        metrics |= phase_values(phase.rounds, phase.alpha)
    metrics |= _energy(kit, phases) | memory_value(taken)
    stopped: Stopped | None = None if all(phase.finished for phase in phases) else "limit"
    return Measured(
        metrics=metrics,
        arrays=_arrays(taken),
        steady=all(_steady(rounds) for rounds in taken),
        disturbed_rounds=sum(rounds.disturbed for rounds in taken),
        busy=any(rounds.tolerant and 2 * rounds.disturbed > len(rounds.taken) for rounds in taken),
        stopped=stopped,
        notes=tuple(note for rounds in taken for note in _notes(rounds)),
    )


def _energy(kit: _Kit, phases: Sequence[AlonePhase], *, shared_model: bool = False) -> dict[str, Value]:
    """Energy per item is taken offline where there is such a phase: that is where a frugal deployment runs."""
    if not phases:
        return {}
    taken = [phase.rounds for phase in phases]
    offline = [rounds for rounds in taken if rounds.load.phase.scenario == "offline"]
    return energy_values((offline or taken)[0], kit.power, kit.cpus, shared_model=shared_model)


def _steady(rounds: Rounds) -> bool:
    return rounds.steady and not rounds.moved()


def _notes(rounds: Rounds) -> list[str]:
    name, notes = rounds.load.name, []
    if not rounds.steady:
        notes.append(f"{name}: never became steady")
    elif rounds.moved():
        notes.append(f"{name}: drifted while it was measured")
    if rounds.tolerant and rounds.disturbed:
        causes = ", ".join(sorted(rounds.reasons))
        notes.append(f"{name}: {rounds.disturbed} of {len(rounds.taken)} rounds were disturbed and count ({causes})")
    return notes


def _arrays(taken: Sequence[Rounds], prefix: str = "") -> dict[str, NDArray[np.generic]]:
    """Raw samples by name: ``<scenario>_latency_s`` ``[rounds, requests]``, and one number a round for the rest."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for rounds in taken:
        name = f"{prefix}{rounds.load.name}"
        arrays[f"{name}_latency_s"] = np.asarray([samples.latency_s for samples in rounds.taken])
        arrays[f"{name}_wall_s"] = np.asarray([samples.wall_s for samples in rounds.taken])
        arrays[f"{name}_cpu_s"] = np.asarray([np.nan if s.cpu_s is None else s.cpu_s for s in rounds.taken])
        arrays[f"{name}_items"] = np.asarray(rounds.load.requests.items)
    return arrays

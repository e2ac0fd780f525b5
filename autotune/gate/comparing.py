"""A gate from end to end: what is known without measuring first, then speed, then the report. Read this first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from autotune.core.artifact import Artifact
from autotune.core.deployment import ExportedConfig
from autotune.core.environment import Environment
from autotune.core.errors import UserError
from autotune.core.model import ModelFacts
from autotune.core.plan import Plan
from autotune.core.samples import Tensors
from autotune.core.workload import Workload
from autotune.gate.accepted import Accepted
from autotune.gate.counted import Counted
from autotune.gate.entries import Judged, entries, failed_entry, remedies
from autotune.gate.evidence import Evidence
from autotune.gate.quality import Compared as ComparedQuality
from autotune.gate.quality import Questions, compare_quality
from autotune.gate.sides import Blamed, Side, SideFailure
from autotune.gate.speed import Effort, Speed, compare_speed
from autotune.gate.tolerances import DEFAULTS, widened
from autotune.gate.verdict import GateReport, overall
from autotune.measure import Against, Measured, PhaseLoad, measure
from autotune.replay.instruments import Instruments
from autotune.replay.loads import MEASURED_SCENARIOS, phase_loads

__all__ = ["Terms", "gate_sides"]

Asked = TypeVar("Asked")
_Found: TypeAlias = tuple[ComparedQuality, Speed, dict[str, float]]  # and the greatest losses allowed


@dataclass(frozen=True)
class Terms:
    """How much worse what may become. ``tolerances`` are those given; the defaults hold beside them.

    ``accepted`` was agreed before, ``accepting`` (reasons by metric) is being agreed now, and is not judged.
    """

    effort: Effort
    tolerances: Mapping[str, float] = field(default_factory=dict)
    accepted: Accepted = field(default_factory=Accepted)
    accepting: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Contest:
    head: Side
    baseline: Side
    config: ExportedConfig
    tools: Instruments
    inputs: tuple[Tensors, ...]
    facts: ModelFacts | None = None
    seek_rate: bool = False

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Those of the baseline's workload that can be measured."""
        named = (phase.scenario for phase in self.config.promise.workload.phases)
        return tuple(dict.fromkeys(name for name in named if name in MEASURED_SCENARIOS))

    def answers(self, side: Side, artifact: Artifact, inputs: Sequence[Tensors]) -> list[Tensors]:
        """All outputs of an artifact of that side."""
        with Blamed(side.who, self.tools.open_side(artifact, self.config.device)) as session:
            return [session.outputs(one) for one in inputs]

    def attempt(self, scenarios: Sequence[str], plan: Plan) -> Measured:
        """Measure both side by side, in fresh processes."""
        from autotune.host.cpus import counted_cpus

        device, tools = self.config.device, self.tools
        with (
            Blamed("head", tools.open_side(self.head.artifact, device)) as head,
            Blamed("baseline", tools.open_side(self.baseline.artifact, device)) as baseline,
        ):
            return measure(
                head,
                self._loads(self.head, scenarios),
                plan,
                clock=tools.clock,
                power=tools.power,
                cpus=device.cpus or counted_cpus(),
                counter=tools.counter,
                watch=tools.watch,
                against=Against(baseline, self._loads(self.baseline, scenarios)),
            )

    def _loads(self, side: Side, scenarios: Sequence[str]) -> tuple[PhaseLoad, ...]:
        workload = self.config.promise.workload
        loads = phase_loads(workload, self.inputs, side.batch, side.batching, self.seek_rate, self.facts)
        return tuple(load for load in loads if load.name in scenarios)


def gate_sides(
    head: Side,
    baseline: Side,
    config: ExportedConfig,
    asked: Questions,
    terms: Terms,
    tools: Instruments,
    here: Environment,
) -> GateReport:
    """Compare two sides that can be opened. ``config`` is the baseline's; ``asked`` what both are asked, and timed
    with.

    Raises ``UserError`` when there is nothing to run, or the baseline's device was simulated.
    """
    if config.device.kind == "simulated":
        raise UserError("the baseline is simulated, and the head would be measured", "gate runs of simulated searches")
    if not asked.batches:
        raise UserError(f"{baseline.text} holds no samples to run", "give --data, or export it with its samples")
    terms = _as_measured(terms, config.promise.workload)
    seek_rate = "max_rate" in {**terms.tolerances, **terms.accepting}
    contest = _Contest(head, baseline, config, tools, tuple(asked.inputs), asked.facts, seek_rate)
    started = tools.clock.now_s()
    try:
        compared = _compare(contest, asked, terms)
    except SideFailure as failure:
        return _failed(contest, failure, here, tools.clock.now_s() - started)
    return _judged(contest, terms, compared, here, tools.clock.now_s() - started)


def _judged(contest: _Contest, terms: Terms, compared: _Found, here: Environment, spent_s: float) -> GateReport:
    (quality, speed, bounds), config = compared, contest.config
    head, baseline = contest.head, contest.baseline
    found = entries(
        Judged(head, baseline, config, quality, speed, bounds, terms.tolerances, terms.accepted, terms.accepting)
    )
    verdict = overall(found)
    return GateReport(
        verdict=verdict,
        model=Path(config.model).stem,
        head=head.text,
        baseline=baseline.text,
        compared=found,
        machine=here,
        promise=_promise(config, here),
        attempts=len(speed.measured),
        spent_s=spent_s,
        extended=speed.extended,
        notes=(*head.notes, *_machine_notes(config, here), *quality.notes, *_measuring_notes(speed)),
        remedies=remedies(verdict, found),
    )


def _compare(contest: _Contest, asked: Questions, terms: Terms) -> _Found:
    quality = compare_quality(contest.head, contest.baseline, contest.config, asked, contest.answers)
    known: dict[str, Evidence] = {**quality.evidence, "size": _size(contest.head, contest.baseline)}
    bounds = _bounds(terms, contest.baseline, known)
    speed = compare_speed(contest.attempt, contest.scenarios, bounds, terms.effort, known)
    return quality, speed, bounds


def _as_measured(terms: Terms, workload: Workload) -> Terms:
    """Where every request is one under load, its response time is what it is called by: ``latency``."""
    if workload.has("single_stream"):
        return terms

    def renamed(given: Mapping[str, Asked]) -> dict[str, Asked]:
        return {metric.replace("response_p", "latency_p"): value for metric, value in given.items()}

    return replace(terms, tolerances=renamed(terms.tolerances), accepting=renamed(terms.accepting))


def _size(head: Side, baseline: Side) -> Counted:
    return Counted(head.artifact.size_bytes / baseline.artifact.size_bytes - 1)


def _bounds(terms: Terms, baseline: Side, known: Mapping[str, Evidence]) -> dict[str, float]:
    """The greatest loss allowed for each judged metric. Where accuracy is known, fidelity is judged only when asked for."""
    tolerances = {**DEFAULTS, **terms.tolerances}
    if "accuracy" in known and "fidelity" not in terms.tolerances:
        del tolerances["fidelity"]
    bounds = {}
    for metric, tolerance in tolerances.items():
        change = terms.accepted.of(metric, baseline.artifact.sha256)
        bounds[metric] = tolerance if change is None else widened(metric, tolerance, change.loss)
    return {metric: bound for metric, bound in bounds.items() if metric not in terms.accepting}


def _failed(contest: _Contest, failure: SideFailure, here: Environment, spent_s: float) -> GateReport:
    """A head that does not work fails; without a baseline that does, nothing can be said."""
    entry = failed_entry(failure)
    return GateReport(
        verdict=overall((entry,)),
        model=Path(contest.config.model).stem,
        head=contest.head.text,
        baseline=contest.baseline.text,
        compared=(entry,),
        machine=here,
        promise=_promise(contest.config, here),
        spent_s=spent_s,
        notes=(*contest.head.notes, *_machine_notes(contest.config, here)),
        remedies=("mend the baseline: export it again",) if failure.who == "baseline" else (),
    )


def _promise(config: ExportedConfig, here: Environment) -> str:
    return "this machine" if here.host_fingerprint() == config.environment.host_fingerprint() else "another machine"


def _machine_notes(config: ExportedConfig, here: Environment) -> tuple[str, ...]:
    notes = [
        f"{name} is {here.versions[name]} here, {version} when the baseline was exported"
        for name, version in config.environment.versions.items()
        if name in here.versions and here.versions[name] != version
    ]
    if _promise(config, here) == "another machine":
        then = config.environment
        notes.append(
            f"another machine: the baseline's own numbers are from {then.cpu_model or 'an unknown CPU'}, {then.cpus} CPUs; "
            "both sides were measured here"
        )
    if set(config.environment.isa) != set(here.isa):
        missing = sorted(set(config.environment.isa) - set(here.isa))
        lacks = f" (no {', '.join(missing)} here)" if missing else ""
        notes.append(f"another instruction set{lacks}: speed there may differ from speed here, accuracy hardly")
    return tuple(notes)


def _measuring_notes(speed: Speed) -> tuple[str, ...]:
    """What made it hard, over all attempts; each attempt's own remarks would fill a page."""
    count = len(speed.measured)
    busy, moving = sum(one.busy for one in speed.measured), sum(not one.steady for one in speed.measured)
    notes = {
        f"the machine was busy with other things during {busy} of {count} measurements": busy,
        f"speed did not settle during {moving} of {count} measurements": moving,
    }
    return tuple(note for note, times in notes.items() if times)

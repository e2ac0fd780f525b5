"""``autotune gate`` from Python: finds both sides, compares them, and writes what was accepted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from autotune.api.baselines import baseline_folder, is_run, point_of
from autotune.api.gating_simulated import SimulatedPoint, gate_against_simulated, is_promise, simulated_point
from autotune.core.clock import Clock, SystemClock
from autotune.core.deployment import ExportedConfig
from autotune.core.errors import UserError
from autotune.gate.accepted import Acceptance, Accepted, read_accepted, require_acceptable, write_accepted
from autotune.gate.built import head_facts, model_side
from autotune.gate.comparing import Terms, gate_sides
from autotune.gate.entries import failed_entry
from autotune.gate.quality import Questions, questions
from autotune.gate.sides import Side, SideFailure, folder_side
from autotune.gate.speed import Effort
from autotune.gate.tolerances import DEFAULTS, HYPERVOLUME, require_measurable
from autotune.gate.verdict import GateReport, overall
from autotune.replay.facts import facts_of
from autotune.replay.folder import is_exported
from autotune.replay.instruments import environment_here, instruments_for
from autotune.replay.labelled import read_labelled
from autotune.replay.mixtures import lacking, mixes

__all__ = ["GateRequest", "gate"]


@dataclass(frozen=True)
class GateRequest:
    """``head`` is a model file, a deployed folder, ``RUN:POINT`` or a run folder; ``baseline`` as on the command line.

    Budgets in seconds. ``accepting`` are reasons by metric. ``data`` None: the baseline's own samples.
    """

    head: str
    baseline: str
    as_is: bool = False
    data: str | None = None
    tolerances: Mapping[str, float] = field(default_factory=dict)
    accepting: Mapping[str, str] = field(default_factory=dict)
    budget_s: float = 60.0
    max_budget_s: float = 180.0
    tracking_uri: str | None = None


def gate(asked: GateRequest, clock: Clock | None = None, begin: Callable[[], object] = lambda: None) -> GateReport:
    """Compare and judge. What ``accepting`` names is written into the baseline's folder, unless something else failed.

    ``begin`` is called when everything was read, before anything is built or run. Raises ``UserError``, and
    ``MissingBaseline`` when there is nothing to compare with.
    """
    if is_run(Path(asked.head)) and is_run(Path(asked.baseline)):
        return _gate_fronts(asked)
    if (simulated := simulated_point(asked.baseline)) is not None:
        return _gate_simulated(asked, simulated, begin)
    with ExitStack() as stack:
        folder = stack.enter_context(baseline_folder(asked.baseline, asked.tracking_uri))
        if is_promise(folder) and (fetched := simulated_point(asked.baseline, folder)) is not None:
            return _gate_simulated(asked, fetched, begin)
        require_measurable(asked.tolerances)
        _refuse_lost_acceptance(asked, folder)
        baseline, config = stack.enter_context(folder_side("baseline", folder, asked.baseline))
        accepted = read_accepted(folder)
        questions = _questions(asked, baseline, config, folder)
        head = _head(asked, config, folder, stack)
        begin()
        try:
            sides = (stack.enter_context(head), baseline)
            return _gate_sides(asked, sides, config, folder, accepted, clock or SystemClock(), questions)
        except SideFailure as failure:  # a head that cannot even be built
            return _unbuilt(asked, config, failure)


def _gate_simulated(asked: GateRequest, baseline: SimulatedPoint, begin: Callable[[], object]) -> GateReport:
    for option, given in (("--data", asked.data), ("--as-is", asked.as_is), ("--accept", asked.accepting)):
        if given:
            raise UserError(f"{option} means nothing here: {baseline.text} was simulated", "leave it out")
    begin()
    return gate_against_simulated(asked.head, baseline, asked.tolerances)


def _unbuilt(asked: GateRequest, config: ExportedConfig, failure: SideFailure) -> GateReport:
    entry = failed_entry(failure)
    return GateReport(
        verdict=overall((entry,)),
        model=Path(config.model).stem,
        head=asked.head,
        baseline=asked.baseline,
        compared=(entry,),
        machine=environment_here(),
    )


def _gate_sides(
    asked: GateRequest,
    sides: tuple[Side, Side],
    config: ExportedConfig,
    folder: Path,
    accepted: Accepted,
    clock: Clock,
    questions: Questions,
) -> GateReport:
    head, baseline = sides
    here = environment_here()
    report = gate_sides(
        head,
        baseline,
        config,
        questions,
        Terms(Effort(asked.budget_s, asked.max_budget_s, clock), asked.tolerances, accepted, asked.accepting),
        instruments_for(config, here, clock),
        here,
    )
    if asked.accepting:
        _accept(asked, report, baseline, head, folder)
    return report


def _head(asked: GateRequest, config: ExportedConfig, baseline: Path, stack: ExitStack) -> AbstractContextManager[Side]:
    """The head, read and not yet built; what must be kept for it is on the ``stack``. Raises ``UserError``."""
    path = Path(asked.head)
    if path.is_file():
        facts = head_facts(path, asked.data, config, baseline)
        return model_side(path, facts, config, baseline, asked.data, as_is=asked.as_is)
    if asked.as_is:
        raise UserError(f"--as-is takes a model file, and {asked.head} is none", "leave --as-is out")
    if point_of(asked.head) is None and not is_exported(path):
        if is_promise(path):
            raise UserError(
                f"{asked.head} was simulated, and {asked.baseline} was measured",
                "compare two simulated ones, or two measured ones",
            )
        if is_run(path):
            raise UserError(
                f"{asked.head} is a run, and {asked.baseline} is none", f"name a point of it: {asked.head}:knee"
            )
        what = "is no model file and no exported folder" if path.exists() else "does not exist"
        raise UserError(f"{asked.head} {what}", "give a model, a folder that `autotune export` wrote, or RUN:POINT")
    folder = stack.enter_context(baseline_folder(asked.head))
    side, _ = stack.enter_context(folder_side("head", folder, asked.head))
    return nullcontext(side)


def _questions(asked: GateRequest, baseline: Side, config: ExportedConfig, folder: Path) -> Questions:
    """The user's data; without them the baseline's samples; without those, generated inputs."""
    sampled = asked.data is None and baseline.samples is not None and len(baseline.samples) > 0
    mixed = mixes(config.promise.workload)
    if sampled and not mixed:
        return questions(baseline, None, generated=config.quality.generated)
    model = Path(baseline.reference.model) if baseline.reference is not None else folder / config.model
    facts = facts_of(model, config, folder)
    if mixed and (missing := lacking(config.promise.workload, facts)):
        raise UserError(
            f"the baseline's load mixes sizes of {', '.join(missing)}, which {model.name} does not name",
            "export the baseline with its original model (without --no-original)",
        )
    given = None if sampled else read_labelled(asked.data, config, facts)
    generated = config.quality.generated if given is None else given.generated
    found = questions(baseline, None if given is None else given.batches, generated=generated)
    return replace(found, facts=facts if mixed else None)


def _refuse_lost_acceptance(asked: GateRequest, folder: Path) -> None:
    """What is accepted is written where it is reviewed: into a folder of the repository."""
    if asked.accepting and folder.resolve() != Path(asked.baseline).resolve():
        raise UserError(
            f"--accept writes into the baseline's folder, and {asked.baseline} is none here",
            "fetch it first (autotune export … -o DIR), and gate against that folder",
        )
    if asked.accepting:
        require_acceptable(folder)


def _accept(asked: GateRequest, report: GateReport, baseline: Side, head: Side, folder: Path) -> None:
    """A red run changes nothing: when another metric failed, nothing is written."""
    if report.verdict == "failed":
        return
    found = {entry.metric: entry for entry in report.compared}
    new = []
    for metric, reason in asked.accepting.items():
        loss = found[metric].loss if metric in found else None
        if loss is None or loss.value is None:
            raise UserError(f"--accept {metric}: it was not measured here", "name a metric of the report")
        new.append(
            Acceptance(
                metric=metric,
                reason=reason,
                loss=max(0.0, round(loss.value, 6)),
                baseline=baseline.artifact.sha256,
                head=head.artifact.sha256,
            )
        )
    write_accepted(folder, new)


def _gate_fronts(asked: GateRequest) -> GateReport:
    from autotune.api.run import Run
    from autotune.gate.fronts import gate_fronts
    from autotune.runs.folder import RunFolder

    if asked.accepting:
        raise UserError("--accept does not go with two runs", "widen --tolerance hypervolume=… instead")
    tolerance = {**DEFAULTS, **asked.tolerances}[HYPERVOLUME]
    new, old = (Run.open(named).front for named in (asked.head, asked.baseline))
    model = RunFolder.open(Path(asked.head)).search.facts.stem
    return gate_fronts(new, old, (asked.head, asked.baseline), tolerance, environment_here(), model)

"""``autotune verify``: an exported folder, replayed in fresh processes, against what it promises."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from autotune.core.clock import Clock, SystemClock
from autotune.core.deployment import ExportedConfig
from autotune.core.environment import Environment
from autotune.core.errors import TrialError
from autotune.core.model import ModelFacts
from autotune.core.samples import Tensors
from autotune.export.judging import judge_size
from autotune.export.quality_check import check_outputs_sane, check_quality
from autotune.export.speed_check import Speed, check_speed, speed_metrics
from autotune.export.verdict import Compared, VerifyReport, overall
from autotune.replay.facts import facts_of
from autotune.replay.folder import read_exported
from autotune.replay.instruments import environment_here, instruments_for
from autotune.replay.labelled import Labelled, read_labelled
from autotune.replay.loads import MEASURED_SCENARIOS
from autotune.replay.mixtures import lacking, mixes
from autotune.replay.samples import ReplaySamples, read_samples
from autotune.replay.sides import Sides, open_side, sides

__all__ = ["verify"]

_ONCE = ("load_time", "build_time")


def verify(
    folder: str | Path,
    *,
    budget_s: float = 120.0,
    data: str | None = None,
    original: Path | None = None,
    clock: Clock | None = None,
    begin: Callable[[], object] = lambda: None,
) -> VerifyReport:
    """Check every promise of an exported folder. ``data`` as in ``autotune search``; ``original`` is the searched model's
    file, where the folder does not hold it. Needs onnxruntime, and no backend, executor or tracker. ``begin`` is called when
    everything was read, and nothing of it has been run.

    Raises ``UserError`` when the folder, the data or the original cannot be read.
    """
    path, clock = Path(folder), clock or SystemClock()
    end = clock.now_s() + budget_s
    config = read_exported(path)
    here = environment_here()
    another = here.host_fingerprint() != config.environment.host_fingerprint()
    with sides(path, config, original) as both:
        given = _read_given(path, config, data, both)
        begin()
        compared = _static(config, both, given, another=another)
        speed = Speed((), 0)
        if compared[0].verdict == "kept":
            speed = _speed(config, both, given, end - clock.now_s(), clock, here, another=another)
    everything = (*compared, *speed.compared)
    notes = (*_notes(config, here, both), *speed.notes)
    verdict = overall(everything)
    return VerifyReport(folder=path, verdict=verdict, compared=everything, attempts=speed.attempts, notes=notes)


@dataclass(frozen=True)
class _Given:
    """What there is to run: the folder's samples, the user's (or generated) data; None where there are none.

    ``facts`` of the model are read where data or a mixture of shapes need them; None: neither does.
    """

    samples: ReplaySamples | None
    labelled: Labelled | None
    facts: ModelFacts | None = None

    @property
    def inputs(self) -> tuple[Tensors, ...]:
        if self.samples is not None:
            return tuple(self.samples.inputs)
        return tuple(inputs for inputs, _ in self.labelled.batches) if self.labelled is not None else ()


def _read_given(folder: Path, config: ExportedConfig, data: str | None, both: Sides) -> _Given:
    file = folder / "samples.npz"
    samples = read_samples(file) if file.is_file() else None
    samples = samples if samples is not None and len(samples) else None
    sampled = data is None and samples is not None
    if sampled and not mixes(config.promise.workload):
        return _Given(samples, None)
    facts = facts_of(both.original_model or folder / config.model, config, folder)
    return _Given(samples, None if sampled else read_labelled(data, config, facts), facts)


def _static(config: ExportedConfig, both: Sides, given: _Given, *, another: bool) -> tuple[Compared, ...]:
    """What does not depend on speed: whether it opens and answers (first of all), quality, size."""
    size = config.promise.metrics.get("size")
    sizes = (judge_size(size, both.exported.size_bytes),) if size is not None else ()
    once = tuple(
        Compared(
            metric=name, verdict="not compared", promised=config.promise.metrics[name], reason="it was measured once"
        )
        for name in _ONCE
        if name in config.promise.metrics
    )
    try:
        outputs, quality = _outputs_and_quality(config, both, given)
    except TrialError as error:
        outputs, quality = _failure(error, another=another), ()
    return (outputs, *quality, *sizes, *once)


def _outputs_and_quality(config: ExportedConfig, both: Sides, given: _Given) -> tuple[Compared, tuple[Compared, ...]]:
    expected = given.samples.outputs[0] if given.samples is not None else None
    with ExitStack() as stack:
        run = stack.enter_context(open_side(both.exported, both.device)).outputs
        outputs = check_outputs_sane(run, given.inputs[0], expected)
        if outputs.verdict != "kept":
            return outputs, ()
        original = None
        if given.labelled is not None and both.original is not None:
            original = stack.enter_context(open_side(both.original, both.device)).outputs
        return outputs, check_quality(config, run, given.samples, given.labelled, original)


def _speed(
    config: ExportedConfig,
    both: Sides,
    given: _Given,
    budget_s: float,
    clock: Clock,
    here: Environment,
    *,
    another: bool,
) -> Speed:
    names = speed_metrics(config)
    reason = _why_not(config, given.facts, another=another)
    if reason is not None:
        verdict = "another machine" if another else "not compared"
        compared = (
            Compared(metric=name, verdict=verdict, promised=config.promise.metrics[name], reason=reason)
            for name in names
        )
        return Speed(tuple(compared), 0)
    try:
        return check_speed(config, both, given.inputs, budget_s, instruments_for(config, here, clock), given.facts)
    except TrialError as error:
        return Speed((_failure(error, another=False),), 1)


def _failure(error: TrialError, *, another: bool) -> Compared:
    """A session that does not open or run: broken here, but on another machine no wonder."""
    stage = "open" if error.stage == "open" else "run"
    reason = (
        f"it does not {stage} ({error.cause}): {error.message.strip().splitlines()[0] if error.message.strip() else ''}"
    )
    return Compared(metric="outputs", verdict="another machine" if another else "broken", reason=reason)


def _why_not(config: ExportedConfig, facts: ModelFacts | None, *, another: bool) -> str | None:
    """Why speed cannot be judged here; None: it can."""
    if another:
        return f"it was measured on {config.environment.cpu_model or 'another CPU'}, {config.environment.cpus} CPUs"
    if config.device.kind == "simulated":
        return "its device was simulated"
    if not any(phase.scenario in MEASURED_SCENARIOS for phase in config.promise.workload.phases):
        return f"workload {config.promise.workload.name} cannot be replayed"
    if facts is not None and (missing := lacking(config.promise.workload, facts)):
        return f"its load mixed sizes of {', '.join(missing)}, which the model here does not name"
    return None


def _notes(config: ExportedConfig, here: Environment, both: Sides) -> tuple[str, ...]:
    notes = [
        f"{name} is {here.versions[name]} here, {version} when it was measured"
        for name, version in config.environment.versions.items()
        if name in here.versions and here.versions[name] != version
    ]
    if both.original is None:
        notes.append(
            "the original model is not at hand (--original): a slow-down of less than 50 % cannot be told from drift"
        )
    return tuple(notes)

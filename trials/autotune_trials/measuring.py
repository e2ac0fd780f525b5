"""A trial from build to measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from autotune.core.ports import Session
from autotune.core.samples import Tensors
from autotune.core.trial import Measurement, Outcome, SameAs
from autotune.core.values import Value
from autotune.measure import Measured
from autotune.measure.staged import needs_all
from autotune.runs.arrays import write_arrays
from autotune_trials.bench import Bench, Built
from autotune_trials.checking import check
from autotune_trials.in_turns import fits_beside, measure_in_turns
from autotune_trials.metrics import known_metrics, size_ratio
from autotune_trials.quality import ArtifactQuality, broken_limit
from autotune_trials.reference import reference_outputs
from autotune_trials.sessions import measure_session, open_session
from autotune_trials.twins import keep_for_twins, twin_of

__all__ = ["carry_out"]


def carry_out(bench: Bench) -> Outcome:
    """Build, open, check, measure and check again. Raises ``TrialError``; the stage it was at is in ``bench.stages``."""
    with bench.stages.at("build"):
        built = bench.built(bench.trial.candidate)
    if built.artifact.unchanged is not None:
        return SameAs(trial=bench.trial.parent or "", reason=built.artifact.unchanged)
    return twin_of(bench, built.artifact) or _opened_and_measured(bench, built)


def _opened_and_measured(bench: Bench, built: Built) -> Measurement:
    with bench.stages.at("check"):
        reference = reference_outputs(bench)
    with ExitStack() as stack:
        with bench.stages.at("open"):
            session = stack.enter_context(open_session(bench, built.artifact))
        with bench.stages.at("check"):
            check(bench, session, reference)
            quality = ArtifactQuality(bench, session, built.artifact, reference)
            if bench.trial.purpose != "search" or bench.paired:
                quality.complete()
        known = known_metrics(built, session)
        broken = broken_limit(bench.context.limits, quality.values)
        if broken is not None:
            return _stopped(built, known | quality.values, f"not measured: {broken.text} is certainly broken")
        measured = _measured(bench, session, quality, known, reference) if fits_beside(bench) else None
    measured = measured or measure_in_turns(bench, built, reference)
    keep_for_twins(bench, built.artifact)
    return _measurement(bench, built, measured, known | quality.values)


def _measured(
    bench: Bench, session: Session, quality: ArtifactQuality, known: dict[str, Value], reference: Sequence[Tensors]
) -> Measured:
    """Measure the opened candidate, beside the baseline where the trial is paired, and check it again."""
    trial, known = bench.trial, {**known, **quality.for_the_race()}
    with ExitStack() as stack:
        with bench.stages.at("open"):
            baseline = stack.enter_context(_baseline(bench)) if bench.paired else None
        with bench.stages.at("measure"):
            measured = measure_session(bench, session, trial.candidate, trial.plan, baseline=baseline, known=known)
    with bench.stages.at("check"):
        check(bench, session, reference)
        if _may_matter(bench, measured, known):
            quality.complete()
    return measured


def _baseline(bench: Bench) -> Session:
    return open_session(bench, bench.built(bench.context.baseline).artifact)


def _may_matter(bench: Bench, measured: Measured, known: Mapping[str, Value]) -> bool:
    """Whether the candidate may be on the front."""
    context, metrics = bench.context, {**known, **measured.metrics}
    lost = measured.stopped == "dominated"
    return not lost and needs_all(metrics, context.limits, context.objectives, bench.assignment.bar)


def _measurement(bench: Bench, built: Built, measured: Measured, known: dict[str, Value]) -> Measurement:
    file = bench.layout.samples(bench.trial.id)
    if measured.arrays:
        write_arrays(file, measured.arrays)
    ratios = dict(measured.ratios)
    if bench.paired:
        ratios["size"] = size_ratio(built.artifact, bench.built(bench.context.baseline).artifact)
    return Measurement(
        metrics={**known, **measured.metrics},
        ratios=ratios,
        samples=str(file.relative_to(bench.layout.folder)) if measured.arrays else None,
        steady=measured.steady,
        disturbed_rounds=measured.disturbed_rounds,
        stopped=measured.stopped,
        artifact=built.artifact.sha256,
        changed=built.artifact.changed,
        notes=(*measured.notes, *built.artifact.warnings),
    )


def _stopped(built: Built, known: dict[str, Value], note: str) -> Measurement:
    artifact = built.artifact
    return Measurement(
        metrics=known,
        stopped="limit",
        artifact=artifact.sha256,
        changed=artifact.changed,
        notes=(note, *artifact.warnings),
    )

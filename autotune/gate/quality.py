"""Accuracy and fidelity of both sides on the same samples, compared sample by sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from autotune.core.artifact import Artifact
from autotune.core.deployment import ExportedConfig
from autotune.core.errors import CheckError
from autotune.core.model import ModelFacts
from autotune.core.samples import Tensors
from autotune.core.values import Value
from autotune.gate.evidence import Scored
from autotune.gate.sides import Side, SideFailure
from autotune.measure.intervals import Interval
from autotune.replay.labelled import Batch

__all__ = ["Answers", "Compared", "Questions", "compare_quality", "questions"]

Run = Callable[[Side, Artifact, Sequence[Tensors]], list[Tensors]]
"""All outputs of one artifact of a side, in a process of its own. Raises ``SideFailure``."""


@dataclass(frozen=True)
class Questions:
    """What both sides are asked: requests of batch 1 with their labels (None: there are none).

    ``expected`` are the outputs of the baseline's unoptimised model, None: it has to be asked. ``generated``: not the user's.
    ``facts`` of the model, where its load mixes shapes: requests of other sizes are made for it; None: it does not.
    """

    batches: tuple[Batch, ...]
    expected: tuple[Tensors, ...] | None = None
    generated: bool = False
    facts: ModelFacts | None = None

    @property
    def inputs(self) -> list[Tensors]:
        """The requests alone."""
        return [inputs for inputs, _ in self.batches]

    @property
    def labelled(self) -> bool:
        """Whether every one has a label."""
        return bool(self.batches) and all(label is not None for _, labels in self.batches for label in labels)


@dataclass(frozen=True)
class Answers:
    """One side's outputs, and those of the unoptimised model that it is held against (None: it is not at hand)."""

    found: list[Tensors]
    reference: Sequence[Tensors] | None


@dataclass(frozen=True)
class Compared:
    """Evidence and both sides' values by metric. ``notes`` say what could not be compared, and why."""

    evidence: dict[str, Scored] = field(default_factory=dict)
    head: dict[str, Value] = field(default_factory=dict)
    baseline: dict[str, Value] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def questions(side: Side, labelled: Sequence[Batch] | None, *, generated: bool) -> Questions:
    """The user's data where they were given, else the baseline's own samples; empty when there are neither."""
    if labelled is not None:
        return Questions(tuple(labelled), None, generated)
    samples = side.samples
    if samples is None:
        return Questions(())
    labels: Sequence[Any] = samples.labels if samples.labels is not None else [None] * len(samples)
    asked = tuple((inputs, [label]) for inputs, label in zip(samples.inputs, labels, strict=True))
    return Questions(asked, samples.outputs)


def compare_quality(head: Side, baseline: Side, config: ExportedConfig, asked: Questions, run: Run) -> Compared:
    """Ask both sides, check that the head's answers are sane, and compare.

    Accuracy is compared where the samples are labelled and the baseline was judged by accuracy; fidelity wherever both sides'
    unoptimised models are known. Raises ``SideFailure``: of the head also when its outputs are not sane.
    """
    if not asked.batches:
        return Compared(notes=("quality was not compared: the baseline has no samples, and no --data was given",))
    theirs = _baseline_answers(baseline, asked, run)
    mine = _head_answers(head, baseline, asked, theirs, run)
    _require_sane(mine, theirs, run(head, head.artifact, asked.inputs[:1])[0])
    fidelity = _fidelity(mine, theirs, asked)
    accuracy = _accuracy(mine, theirs, config, asked)
    return Compared(
        {**accuracy.evidence, **fidelity.evidence},
        {**accuracy.head, **fidelity.head},
        {**accuracy.baseline, **fidelity.baseline},
        (*accuracy.notes, *fidelity.notes),
    )


def _baseline_answers(side: Side, asked: Questions, run: Run) -> Answers:
    found = run(side, side.artifact, asked.inputs)
    if asked.expected is not None:
        return Answers(found, asked.expected)
    return Answers(found, None if side.reference is None else run(side, side.reference, asked.inputs))


def _head_answers(head: Side, baseline: Side, asked: Questions, theirs: Answers, run: Run) -> Answers:
    """Its reference is the baseline's when both were made from one model."""
    found = run(head, head.artifact, asked.inputs)
    if head.original_sha256 == baseline.original_sha256:
        return Answers(found, theirs.reference)
    return Answers(found, None if head.reference is None else run(head, head.reference, asked.inputs))


def _require_sane(mine: Answers, theirs: Answers, again: Tensors) -> None:
    """Every output of the baseline's is there, finite, the same on every run, and near the unoptimised model's (if known)."""
    from autotune.measure.check import check_outputs

    first = mine.found[0]
    try:
        if missing := sorted(set(theirs.found[0]) - set(first)):
            raise CheckError("wrong_output", f"the baseline's output {missing[0]!r} is missing")
        check_outputs(first, again, first if mine.reference is None else mine.reference[0], exact=False)
    except CheckError as error:
        raise SideFailure("head", error) from error


def _fidelity(mine: Answers, theirs: Answers, asked: Questions) -> Compared:
    """Each side against its own unoptimised model; the output that lost most counts."""
    if mine.reference is None or theirs.reference is None:
        return Compared(notes=("fidelity was not compared: an unoptimised model is not at hand",))
    from autotune.measure.fidelity import output_fidelities
    from autotune.measure.proportions import mean_interval, paired_drop

    counts = [len(labels) for _, labels in asked.batches]
    sides = [output_fidelities(one.found, one.reference or (), counts) for one in (mine, theirs)]
    both = [
        (ours, other)
        for ours in sides[0]
        for other in sides[1]
        if ours.name == other.name and len(ours.per_sample) == len(other.per_sample)
    ]
    if not both:
        return Compared(notes=("fidelity was not compared: the two sides have no output in common",))
    ours, other = max(both, key=lambda pair: pair[1].mean - pair[0].mean)
    drop = paired_drop(other.per_sample, ours.per_sample)
    count, origin = len(ours.per_sample), ", generated inputs" if asked.generated else ""
    values = [
        _value(mean_interval(one.per_sample), count, f"{one.kind} of output {one.name!r}{origin}")
        for one in (ours, other)
    ]
    return Compared({"fidelity": Scored(drop, count)}, {"fidelity": values[0]}, {"fidelity": values[1]})


def _accuracy(mine: Answers, theirs: Answers, config: ExportedConfig, asked: Questions) -> Compared:
    if config.quality.name != "accuracy":
        return Compared()
    if not asked.labelled:
        return Compared(notes=("accuracy was not compared: it needs labelled data, give --data",))
    from autotune.measure.quality import take_quality

    def taken(side: Answers) -> dict[str, Value]:
        answers = iter(side.found)
        return take_quality(
            lambda _: next(answers), asked.batches, theirs.found, config.quality.metric, asked.generated
        )

    try:
        head, baseline = taken(mine), taken(theirs)
    except CheckError as error:
        return Compared(notes=(f"accuracy was not compared: {error.message}",))
    drop, count = head["accuracy_drop"], sum(len(labels) for _, labels in asked.batches)
    interval = Interval(drop.value or 0.0, drop.low, drop.high)
    return Compared(
        {"accuracy": Scored(interval, count)}, {"accuracy": head["accuracy"]}, {"accuracy": baseline["accuracy"]}
    )


def _value(interval: Interval, count: int, basis: str) -> Value:
    return Value(value=interval.value, unit="1", low=interval.low, high=interval.high, n=count, basis=basis)

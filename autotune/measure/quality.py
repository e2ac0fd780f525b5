"""Quality of a candidate: fidelity to the unoptimised model, and accuracy where there are labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.errors import CheckError, UserError
from autotune.core.samples import Tensors
from autotune.core.values import Value
from autotune.measure.fidelity import OutputFidelity, output_fidelities
from autotune.measure.intervals import Interval
from autotune.measure.proportions import jackknife, mean_interval, paired_drop
from autotune.measure.quality_metrics import PER_SAMPLE, metric_function, scored_output

__all__ = ["metric_function", "take_quality"]

_GENERATED = "generated inputs, not the user's"


@dataclass(frozen=True)
class _Answers:
    """Outputs of the candidate and of the reference, stacked over samples, with their labels."""

    found: Tensors
    reference: Tensors
    labels: Sequence[Any]

    def scores(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The reference's and the candidate's score for each sample."""
        per_sample = PER_SAMPLE[name]
        both = (scored_output(self.reference), scored_output(self.found))
        before, after = (np.asarray(per_sample(output, self.labels), dtype=np.float64) for output in both)
        return before, after


def take_quality(
    run: Callable[[Tensors], Tensors],
    batches: Iterable[tuple[Tensors, list[Any]]],
    reference: Sequence[Tensors],
    metric: str | None,
    generated: bool,
) -> dict[str, Value]:
    """Run every batch and compare with ``reference``: the unoptimised model's outputs for the same batches in order.

    Gives ``fidelity`` always; ``accuracy`` and ``accuracy_drop`` (paired sample by sample with the reference) when every
    sample has a label and ``metric`` names one; without, ``accuracy_drop`` is 1 less the fidelity. ``generated`` inputs are
    said in ``basis``. Raises ``CheckError`` when the metric cannot be taken of these outputs.
    """
    found, labels, counts = _run_all(run, batches)
    fidelities = output_fidelities(found, reference[: len(found)], counts)
    fidelity = _fidelity(fidelities, sum(counts), generated)
    if metric is None or not labels or any(label is None for label in labels):
        return {"fidelity": fidelity, "accuracy_drop": _drop_of(fidelity)}
    answers = _Answers(_stacked(found), _stacked(reference[: len(found)]), labels)
    accuracy, drop = _accuracy(answers, metric)
    basis = f"{metric} on {len(labels)} samples" + (f", {_GENERATED}" if generated else "")
    paired = f"{basis}, paired with the original"
    return {
        "fidelity": fidelity,
        "accuracy": _value(accuracy, len(labels), basis),
        "accuracy_drop": _value(drop, len(labels), paired),
    }


def _run_all(
    run: Callable[[Tensors], Tensors], batches: Iterable[tuple[Tensors, list[Any]]]
) -> tuple[list[Tensors], list[Any], list[int]]:
    found, labels, counts = [], [], []
    for inputs, batch_labels in batches:
        found.append(run(inputs))
        labels.extend(batch_labels)
        counts.append(len(batch_labels))
    return found, labels, counts


def _fidelity(outputs: Sequence[OutputFidelity], count: int, generated: bool) -> Value:
    """The worst output counts; with several, each one's own is among the parts."""
    worst = min(outputs, key=lambda output: output.mean)
    noise = "" if worst.sqnr_db is None else f", {_noise(worst)}"
    blind = ", ".join(repr(output.name) for output in outputs if output.blind)
    nothing = f", but the original gives no finite number in {blind}: this says nothing" if blind else ""
    basis = f"{worst.kind} of output {worst.name!r}{noise}{nothing}" + (f", {_GENERATED}" if generated else "")
    parts = {output.name: _of_output(output, count) for output in outputs} if len(outputs) > 1 else {}
    return _value(mean_interval(worst.per_sample), count, basis).model_copy(update={"parts": parts})


def _of_output(output: OutputFidelity, count: int) -> Value:
    noise = "" if output.sqnr_db is None else f", {_noise(output)}"
    return _value(mean_interval(output.per_sample), count, f"{output.kind}{noise}")


def _noise(output: OutputFidelity) -> str:
    return f"SQNR {output.sqnr_db:.1f} dB"


def _drop_of(fidelity: Value) -> Value:
    low, high = (None if end is None else 1 - end for end in (fidelity.high, fidelity.low))
    value = None if fidelity.value is None else 1 - fidelity.value
    basis = f"1 - {fidelity.basis}"
    return fidelity.model_copy(update={"value": value, "low": low, "high": high, "basis": basis, "parts": {}})


def _accuracy(answers: _Answers, metric: str) -> tuple[Interval, Interval]:
    """Accuracy and its drop."""
    if ":" in metric:
        _refuse_failing(metric, answers)
    try:
        if metric in PER_SAMPLE:
            before, after = answers.scores(metric)
            return mean_interval(after), paired_drop(before, after)
        return _whole_set_accuracy(answers, metric)
    except Exception as error:  # a user's metric may raise anything
        if not isinstance(error, ValueError | TypeError | IndexError | KeyError) and ":" not in metric:
            raise
        raise CheckError("other", f"the metric {metric} cannot be taken: {error}") from error


def _refuse_failing(metric: str, answers: _Answers) -> None:
    """Raise ``UserError`` when the user's metric fails on the original's own outputs: no candidate is to blame for that."""
    function = metric_function(metric)
    try:
        score = float(function(dict(answers.reference), list(answers.labels)))
    except Exception as error:
        shown = next(iter(str(error).splitlines()), "")
        problem = f"the metric {metric} fails on the original's outputs: {type(error).__name__}: {shown}"
        raise UserError(problem, "it is called with ({output name: array}, labels) and returns a number") from error
    if not math.isfinite(score):
        raise UserError(f"the metric {metric} gives {score} for the original's outputs", "it returns a finite number")


def _whole_set_accuracy(answers: _Answers, metric: str) -> tuple[Interval, Interval]:
    function = metric_function(metric)

    def score(outputs: Tensors, picked: NDArray[np.intp]) -> float:
        chosen = {name: array[picked] for name, array in outputs.items()}
        return float(function(chosen, [answers.labels[index] for index in picked]))

    def drop(picked: NDArray[np.intp]) -> float:
        return score(answers.reference, picked) - score(answers.found, picked)

    count = len(answers.labels)
    return jackknife(lambda picked: score(answers.found, picked), count), jackknife(drop, count)


def _stacked(batches: Sequence[Tensors]) -> Tensors:
    try:
        return {name: np.concatenate([np.asarray(batch[name]) for batch in batches]) for name in batches[0]}
    except ValueError as error:
        raise CheckError("other", f"outputs cannot be stacked over samples: {error}") from error


def _value(interval: Interval, count: int, basis: str) -> Value:
    return Value(value=interval.value, unit="1", low=interval.low, high=interval.high, n=count, basis=basis)

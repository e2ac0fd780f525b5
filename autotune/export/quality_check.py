"""Outputs against the promise: sane at all, near the original's, and as accurate on labelled data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autotune.core.deployment import ExportedConfig
from autotune.core.errors import TrialError
from autotune.core.samples import Tensors
from autotune.core.values import Value
from autotune.export.judging import judge_quality
from autotune.export.verdict import Compared
from autotune.replay.labelled import Batch, Labelled
from autotune.replay.samples import ReplaySamples

__all__ = ["QUALITY_METRICS", "check_outputs_sane", "check_quality"]

QUALITY_METRICS = ("accuracy", "fidelity", "accuracy_drop")

Run = Callable[[Tensors], Tensors]


def check_outputs_sane(run: Run, inputs: Tensors, expected: Tensors | None) -> Compared:
    """Run twice on one input and check the answers; ``expected`` None: only against each other. Never raises."""
    from autotune.measure.check import check_outputs

    try:
        first, second = run(inputs), run(inputs)
        check_outputs(first, second, expected if expected is not None else first, exact=False)
    except TrialError as error:
        return Compared(metric="outputs", verdict="broken", reason=f"{error.cause}: {error.message}")
    return Compared(metric="outputs", verdict="kept")


def check_quality(
    config: ExportedConfig,
    run: Run,
    samples: ReplaySamples | None,
    labelled: Labelled | None,
    original: Run | None,
) -> tuple[Compared, ...]:
    """Every promised metric of quality, from the data where they were given, else from samples.npz."""
    on_data = {} if labelled is None else _on_data(config, run, labelled, original)
    on_samples = {} if samples is None else _fidelity(config, run, samples)
    promised = {name: value for name, value in config.promise.metrics.items() if name in QUALITY_METRICS}
    return tuple(
        _judge(name, value, on_data.get(name), on_samples.get(name), same=labelled is not None and labelled.same)
        for name, value in promised.items()
    )


def _judge(name: str, promised: Value, on_data: Value | None, on_samples: Value | None, *, same: bool) -> Compared:
    if on_data is not None:
        judged = judge_quality(name, promised, on_data, same_data=same)
        return (
            judged
            if same
            else judged.model_copy(update={"how": "on the data", "reason": "other data than the promise's"})
        )
    if on_samples is not None:
        return judge_quality(name, promised, on_samples, same_data=False)
    needs = "labelled data: give --data" if name != "fidelity" else "samples.npz or --data with the original"
    return Compared(metric=name, verdict="not compared", promised=promised, reason=f"it needs {needs}")


def _on_data(config: ExportedConfig, run: Run, labelled: Labelled, original: Run | None) -> dict[str, Value]:
    """Quality on the user's data. Without the original, only accuracy means anything."""
    from autotune.measure.quality import take_quality

    reference = [(original or run)(inputs) for inputs, _ in labelled.batches]
    metric = config.quality.metric if config.quality.name == "accuracy" else None
    taken = take_quality(run, labelled.batches, reference, metric, labelled.generated)
    kept = QUALITY_METRICS if original is not None else ("accuracy",)
    return {name: value for name, value in taken.items() if name in kept}


def _fidelity(config: ExportedConfig, run: Run, samples: ReplaySamples) -> dict[str, Value]:
    from autotune.measure.quality import take_quality

    batches: Sequence[Batch] = [(inputs, [None]) for inputs in samples.inputs]
    taken = take_quality(run, batches, samples.outputs, None, config.quality.generated)
    return {name: value for name, value in taken.items() if name in _without_labels(config)}


def _without_labels(config: ExportedConfig) -> tuple[str, ...]:
    """What can be told without labels: the drop only where it is one of fidelity."""
    return ("fidelity", "accuracy_drop") if config.quality.name == "fidelity" else ("fidelity",)

"""The unoptimised model's outputs: what every candidate is compared with. Made once a device and part of the data."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.core.errors import NOT_RUNNING, TrialError
from autotune.core.ports import Session
from autotune.core.samples import Tensors
from autotune.measure.check import check_outputs
from autotune.runs.arrays import read_tensors, write_tensors
from autotune.runs.lock import exclusive
from autotune_trials.bench import Bench

__all__ = ["CHECKED_SAMPLES", "QUALITY_SAMPLES", "reference_outputs"]

CHECKED_SAMPLES = 2  # inputs whose outputs are compared before and after timing
QUALITY_SAMPLES = {
    "select": 500,
    "confirm": 5000,
    "all": 5000,
}  # at most; one output at a time, so this bounds the time
_KEPT_BYTES = 256 * 2**20  # of outputs, at most: models that answer with images would fill the memory


def reference_outputs(bench: Bench) -> list[Tensors]:
    """Outputs for the first samples of the plan's part of the data, one mapping a sample of batch 1, in order.

    There may be fewer than the part has: ``QUALITY_SAMPLES`` of them, or as many as fit into 256 MiB, two at least.
    Raises ``TrialError`` saying so when the unmodified model does not run.
    """
    file = bench.layout.reference(bench.device.name, bench.trial.plan.quality)
    with exclusive(file.with_suffix(".lock")):
        try:
            return read_tensors(file)
        except (OSError, ValueError):
            outputs = _taken(bench)
            write_tensors(file, outputs)
            return outputs


def _taken(bench: Bench) -> list[Tensors]:
    candidate = bench.context.reference
    try:
        artifact = bench.built(candidate).artifact
        with bench.backend(candidate).open(artifact, bench.device) as session:
            return list(_outputs(bench, session))
    except TrialError as error:
        raise type(error)(error.cause, f"{NOT_RUNNING}: {error.message}") from error


def _outputs(bench: Bench, session: Session) -> Iterator[Tensors]:
    part = bench.trial.plan.quality
    kept_bytes = 0
    for number, inputs in enumerate(bench.inputs(bench.indices(part)[: QUALITY_SAMPLES[part]])):
        outputs = session.outputs(inputs)
        if number < CHECKED_SAMPLES:
            check_outputs(outputs, session.outputs(inputs), outputs, exact=True)
        elif kept_bytes > _KEPT_BYTES:
            return
        kept_bytes += sum(array.nbytes for array in outputs.values())
        yield outputs

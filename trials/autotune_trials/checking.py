"""The output check: nothing is timed before it, and it is repeated after."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.ports import Session
from autotune.core.samples import Tensors
from autotune.measure.check import check_outputs
from autotune_trials.bench import Bench
from autotune_trials.reference import CHECKED_SAMPLES

__all__ = ["check"]


def check(bench: Bench, session: Session, reference: Sequence[Tensors]) -> None:
    """Run a few inputs twice and compare with the unoptimised model's outputs. Raises ``CheckError``."""
    expected = reference[:CHECKED_SAMPLES]
    inputs = bench.inputs(bench.indices(bench.trial.plan.quality)[: len(expected)])
    for one, outputs in zip(inputs, expected, strict=True):
        check_outputs(session.outputs(one), session.outputs(one), outputs, exact=_lossless(bench))


def _lossless(bench: Bench) -> bool:
    """Whether the candidate builds what the reference builds: then its outputs are the same but for rounding."""
    context, candidate = bench.context, bench.trial.candidate
    return all(candidate.get(name) == context.reference.get(name) for name in context.build_parameters)

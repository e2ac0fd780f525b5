"""The requests of each phase of the workload, made of the user's samples."""

from __future__ import annotations

from itertools import cycle, islice

from autotune.core.candidate import Candidate
from autotune.core.samples import Requests
from autotune.core.workload import Phase
from autotune.measure import PhaseLoad
from autotune_trials.bench import Bench

__all__ = ["phase_loads"]

_SAMPLES = 32  # different inputs in turn: enough that none is served from a cache all the time


def phase_loads(bench: Bench, candidate: Candidate) -> tuple[PhaseLoad, ...]:
    """One load a phase, in the workload's order. Batch size belongs to offline phases: everything else sends single samples."""
    return tuple(
        PhaseLoad(phase, _requests(bench, _batch(phase, candidate))) for phase in bench.context.workload.phases
    )


def _batch(phase: Phase, candidate: Candidate) -> int:
    return int(candidate.get("batch_size", 1)) if phase.scenario == "offline" else 1


def _requests(bench: Bench, batch: int) -> Requests:
    """Full batches of up to ``_SAMPLES`` different samples; samples repeat when there are fewer than a batch takes."""
    part = bench.trial.plan.quality
    indices = bench.indices(part)
    count = max(min(_SAMPLES, len(indices)) // batch, 1) * batch
    inputs = tuple(bench.inputs(list(islice(cycle(indices), count)), batch))
    return Requests(key=f"{part}-batch{batch}", inputs=inputs, items=batch)

"""The requests of each phase of the workload, made of the user's samples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice

from autotune.core.assignment import SearchContext
from autotune.core.batching import batching_of
from autotune.core.candidate import Candidate
from autotune.core.limits import parse_limit
from autotune.core.samples import Requests
from autotune.core.workload import Phase, Shape
from autotune.data import batches_at, mixed_order
from autotune.measure import PhaseLoad
from autotune.measure.load_time import seeks_rate
from autotune.measure.under_load import SERVED
from autotune_trials.bench import Bench

__all__ = ["phase_loads"]

_SAMPLES = 32  # different inputs in turn: enough that none is served from a cache all the time


def phase_loads(bench: Bench, candidate: Candidate) -> tuple[PhaseLoad, ...]:
    """One load a phase, in the workload's order. Batch size belongs to offline phases: everything else sends single samples.

    A phase with shapes mixes requests of those sizes by weight. Where samples differ in size and a phase names no shapes, all
    its requests are of the model's sizes: the commonest.
    """
    return tuple(_load(bench, phase, candidate) for phase in bench.context.workload.phases)


def _load(bench: Bench, phase: Phase, candidate: Candidate) -> PhaseLoad:
    requests = _requests(bench, phase, _batch(phase, candidate))
    if phase.scenario in SERVED:
        return under_load(phase, requests, candidate, bench.context)
    return PhaseLoad(phase, requests)


def under_load(phase: Phase, requests: Requests, candidate: Candidate, context: SearchContext) -> PhaseLoad:
    """The load with the candidate's batch policy; the highest rate is sought where an objective or a limit asks for it."""
    return PhaseLoad(
        phase,
        requests,
        batching=batching_of(candidate),
        limits=(*(parse_limit(text) for text in phase.limits), *context.limits),
        seek_rate=phase.scenario == "server" and seeks_rate(context),
    )


def _batch(phase: Phase, candidate: Candidate) -> int:
    return int(candidate.get("batch_size", 1)) if phase.scenario == "offline" else 1


def _requests(bench: Bench, phase: Phase, batch: int) -> Requests:
    shapes = phase.shapes or ((Shape(dims={}),) if _varying(bench) else ())
    return _mixed(bench, phase, shapes, batch) if shapes else _alike(bench, batch)


def _varying(bench: Bench) -> bool:
    data = bench.context.data
    return bool(data.varying or data.shapes)


def _mixed(bench: Bench, phase: Phase, shapes: Sequence[Shape], batch: int) -> Requests:
    """Requests of each shape in its share, evenly spread, of up to ``_SAMPLES`` different samples or one cycle."""
    part, varying = bench.trial.plan.quality, _varying(bench)
    order = mixed_order([shape.weight for shape in shapes])
    streams = [
        batches_at(bench.dataset, bench.indices(part), bench.context.model, shape.dims, batch, varying=varying)[0]
        for shape in shapes
    ]
    sent = [position for _ in range(max(_SAMPLES // (len(order) * batch), 1)) for position in order]
    return Requests(
        key=f"{part}-{phase.scenario}-batch{batch}",
        inputs=tuple(next(streams[position]) for position in sent),
        items=batch,
        shapes=tuple(shapes[position].label for position in sent) if len(shapes) > 1 else (),
        cycle=len(order),
    )


def _alike(bench: Bench, batch: int) -> Requests:
    """Full batches of up to ``_SAMPLES`` different samples; samples repeat when there are fewer than a batch takes."""
    part = bench.trial.plan.quality
    indices = bench.indices(part)
    count = max(min(_SAMPLES, len(indices)) // batch, 1) * batch
    inputs = tuple(bench.inputs(list(islice(cycle(indices), count)), batch))
    return Requests(key=f"{part}-batch{batch}", inputs=inputs, items=batch)

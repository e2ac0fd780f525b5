"""The promise's workload, made again from requests of batch 1."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING

import numpy as np

from autotune.core.deployment import Batching
from autotune.core.limits import parse_limit
from autotune.core.model import ModelFacts
from autotune.core.samples import Requests, Tensors
from autotune.core.workload import Phase, Workload
from autotune.replay.mixtures import mixed_requests

if TYPE_CHECKING:
    from autotune.measure import PhaseLoad

__all__ = ["MEASURED_SCENARIOS", "phase_loads"]

MEASURED_SCENARIOS = ("single_stream", "multi_stream", "offline", "server")

_SAMPLES = 32  # different inputs in turn, as in the search


def phase_loads(
    workload: Workload,
    inputs: Sequence[Tensors],
    batch: int,
    batching: Batching | None = None,
    seek_rate: bool = False,
    facts: ModelFacts | None = None,
) -> tuple[PhaseLoad, ...]:
    """The requests of each phase that can be measured: ``inputs`` one by one, or joined into batches for offline phases.

    ``batching`` is the policy that a server's requests meet, None: one by one; ``seek_rate``: its highest rate is wanted.
    ``facts`` of the model are needed where the load mixes shapes; None: every request is one of ``inputs``.
    """
    from autotune.measure import PhaseLoad

    measured = [phase for phase in workload.phases if phase.scenario in MEASURED_SCENARIOS]
    return tuple(
        PhaseLoad(
            phase,
            _requests(phase, inputs, batch, facts),
            batching=batching if phase.scenario in ("server", "multi_stream") else None,
            limits=tuple(parse_limit(text) for text in phase.limits),
            seek_rate=seek_rate and phase.scenario == "server",
        )
        for phase in measured
    )


def _requests(phase: Phase, inputs: Sequence[Tensors], batch: int, facts: ModelFacts | None) -> Requests:
    if phase.shapes and facts is not None:
        return mixed_requests(phase, inputs, batch if phase.scenario == "offline" else 1, facts)
    if phase.scenario != "offline" or batch == 1:
        return Requests(key=phase.scenario, inputs=tuple(inputs[:_SAMPLES]))
    count = max(1, min(_SAMPLES, len(inputs)) // batch)
    endless = cycle(inputs)
    joined = tuple(_joined(list(islice(endless, batch))) for _ in range(count))
    return Requests(key=phase.scenario, inputs=joined, items=batch)


def _joined(requests: Sequence[Tensors]) -> Tensors:
    return {name: np.concatenate([request[name] for request in requests], axis=0) for name in requests[0]}

"""The least that must change in a candidate for a graph to fit a device: fewer samples at once, a narrower format, or both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autotune.core.candidate import Candidate
from autotune.core.model import ModelFacts
from autotune.core.workload import Phase
from autotune_backends.simulated.devices import SimulatedDevice
from autotune_backends.simulated.graphs.formats import formats_on
from autotune_backends.simulated.graphs.runs import shaped_runs
from autotune_backends.simulated.nearest_fit import Change, least_change
from autotune_backends.simulated.precision import PRECISIONS
from autotune_backends.simulated.refusals import Infeasible

__all__ = ["nearest_graph_fit"]


def nearest_graph_fit(model: ModelFacts, device: SimulatedDevice, candidate: Candidate, phases: Sequence[Phase]) -> str:
    """``"it fits with batch_size=8, or with precision=int8"``; empty when nothing of the kind does."""

    def fits(change: Change) -> bool:
        changed = candidate.with_(**change)
        try:
            for phase in phases:
                shaped_runs(model, device, changed, phase)
        except Infeasible:
            return False
        return True

    return least_change(_smaller(candidate), _narrower(device, candidate), fits)


def _smaller(candidate: Candidate) -> Iterator[Change]:
    size = int(candidate.get("batch_size", 1)) // 2
    while size:
        yield {"batch_size": size}
        size //= 2


def _narrower(device: SimulatedDevice, candidate: Candidate) -> Iterator[Change]:
    now = PRECISIONS[str(candidate.get("precision", "fp32"))].weight_bits
    return ({"precision": name} for name in formats_on(device) if PRECISIONS[name].weight_bits < now)

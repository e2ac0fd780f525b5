"""Many candidates of a graph at a glance: by the names of metrics, for a search to decide which to try first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotune.core.candidate import Candidate
from autotune.core.errors import TrialError
from autotune.core.model import ModelFacts
from autotune.core.ownership import Ownership
from autotune.core.workload import Workload
from autotune_backends.simulated.devices import SimulatedDevice
from autotune_backends.simulated.graphs.prediction import predict_graph

__all__ = ["screened_graph"]


def screened_graph(
    model: ModelFacts,
    device: SimulatedDevice,
    candidates: Sequence[Candidate],
    workload: Workload,
    own: Ownership | None = None,
) -> list[Mapping[str, float] | None]:
    """Of each candidate, its metrics' values; None where it cannot run. A graph's prediction is as quick as a glance."""
    return [_figures(model, device, candidate, workload, own) for candidate in candidates]


def _figures(
    model: ModelFacts, device: SimulatedDevice, candidate: Candidate, workload: Workload, own: Ownership | None
) -> Mapping[str, float] | None:
    try:
        metrics = predict_graph(model, device, candidate, workload, confidence=0.8, own=own)
    except TrialError:
        return None
    return {name: value.value for name, value in metrics.items() if value.value is not None}

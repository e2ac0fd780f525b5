"""What a phase of a load runs: the graph at each shape that its requests have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.core.candidate import Candidate
from autotune.core.errors import UserError
from autotune.core.model import ModelFacts
from autotune.core.workload import Phase, Shape
from autotune_backends.simulated.devices import SimulatedDevice
from autotune_backends.simulated.graphs.costs import GraphCosts, graph_costs
from autotune_backends.simulated.graphs.reading import graph_of, unbatched
from autotune_backends.simulated.graphs.support import refuse_unsupported
from autotune_backends.simulated.refusals import Unsupported

__all__ = ["ShapedRun", "mean_seconds", "median_seconds", "shaped_runs"]


@dataclass(frozen=True, slots=True)
class ShapedRun:
    """A run of ``batch`` samples of one shape. ``weight``: how often it comes, of 1; ``label`` empty: there is one shape."""

    label: str
    weight: float
    batch: int
    costs: GraphCosts


def shaped_runs(
    model: ModelFacts, device: SimulatedDevice, candidate: Candidate, phase: Phase
) -> tuple[ShapedRun, ...]:
    """Price every shape of the phase. Raises ``Unsupported``, ``DoesNotFit`` and ``UserError`` as ``graph_costs`` does."""
    batch = _batch(candidate) if phase.scenario == "offline" else 1
    if batch > 1 and (reason := unbatched(model)) is not None:
        raise Unsupported(f"{model.stem} takes one sample at a time: {reason}")
    shapes = phase.shapes or (Shape(dims={}),)
    total = sum(shape.weight for shape in shapes)
    runs = []
    for shape in shapes:
        graph = graph_of(model, batch, shape.dims)
        refuse_unsupported(model, graph.work, device)
        runs.append(ShapedRun(shape.label, shape.weight / total, batch, graph_costs(graph, device, candidate)))
    return tuple(runs)


def _batch(candidate: Candidate) -> int:
    size = candidate.get("batch_size", 1)
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise UserError(f"batch_size={size!r} is no count", "batch_size is a whole number from 1")
    return size


def mean_seconds(runs: Sequence[ShapedRun]) -> float:
    """Of a run, all shapes together."""
    return sum(run.weight * run.costs.seconds for run in runs)


def median_seconds(runs: Sequence[ShapedRun]) -> float:
    """Half of the runs take no longer."""
    passed = 0.0
    for run in sorted(runs, key=lambda run: run.costs.seconds):
        passed += run.weight
        if passed >= 0.5 - 1e-9:
            return run.costs.seconds
    raise ValueError("no runs")

"""A trial on a simulated device: nothing is built, opened or timed. What the backend computes is the measurement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from autotune import plugins
from autotune.core.assignment import Assignment
from autotune.core.errors import UserError
from autotune.core.ports import Simulating
from autotune.core.trial import Measurement
from autotune.core.values import Value
from autotune.core.workload import Workload
from autotune_trials.replicas import fleet_metrics

__all__ = ["is_simulated", "simulated"]


def is_simulated(assignment: Assignment) -> bool:
    """Whether the trial's device is one."""
    return assignment.context.device(assignment.trial.device).kind == "simulated"


def simulated(assignment: Assignment) -> Measurement:
    """Compute the trial's metrics: of one replica, or of the fleet that the rate needs. Raises ``TrialError``."""
    context = assignment.context
    at = _simulation(assignment)
    if context.fleet is None:
        return Measurement(metrics=dict(at(context.workload)))
    metrics = fleet_metrics(context.fleet, context.workload, context.limits, at)
    return Measurement(metrics=metrics)


def _simulation(assignment: Assignment) -> Callable[[Workload], Mapping[str, Value]]:
    context, candidate = assignment.context, assignment.trial.candidate
    backend = _simulating(str(candidate["runtime"]))
    device = context.device(assignment.trial.device)

    def at(workload: Workload) -> Mapping[str, Value]:
        return backend.simulate(
            context.model,
            candidate,
            device,
            workload,
            limits=context.limits,
            confidence=context.confidence,
            seed=context.seed,
            own=context.ownership,
        )

    return at


@cache
def _simulating(name: str) -> Simulating:
    """One for all trials of a worker: it keeps the models and devices that it has read."""
    backend = plugins.backend(name)
    if not isinstance(backend, Simulating):
        raise UserError(f"the backend {name!r} does not simulate", "take a simulated device with --backend simulated")
    return backend

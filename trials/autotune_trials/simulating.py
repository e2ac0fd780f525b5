"""A trial on a simulated device: nothing is built, opened or timed. What the backend computes is the measurement."""

from __future__ import annotations

from functools import cache

from autotune import plugins
from autotune.core.assignment import Assignment
from autotune.core.errors import UserError
from autotune.core.ports import Simulating
from autotune.core.simulated import simulated_metrics
from autotune.core.trial import Measurement

__all__ = ["is_simulated", "simulated"]


def is_simulated(assignment: Assignment) -> bool:
    """Whether the trial's device is one."""
    return assignment.context.device(assignment.trial.device).kind == "simulated"


def simulated(assignment: Assignment) -> Measurement:
    """Compute the trial's metrics: of one replica, or of the fleet that the rate needs. Raises ``TrialError``."""
    context, candidate = assignment.context, assignment.trial.candidate
    metrics = simulated_metrics(
        _simulating(str(candidate["runtime"])),
        context.model,
        candidate,
        context.device(assignment.trial.device),
        context.workload,
        context.simulation,
    )
    return Measurement(metrics=metrics)


@cache
def _simulating(name: str) -> Simulating:
    """One for all trials of a worker: it keeps the models and devices that it has read."""
    backend = plugins.backend(name)
    if not isinstance(backend, Simulating):
        raise UserError(f"the backend {name!r} does not simulate", "take a simulated device with --backend simulated")
    return backend

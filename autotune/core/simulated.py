"""The numbers of a candidate on a simulated device: what a trial records, and what a gate computes again."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.model import ModelFacts
from autotune.core.ports import Simulating
from autotune.core.replicas import fleet_metrics
from autotune.core.simulation import Simulation
from autotune.core.values import Value
from autotune.core.workload import Workload

__all__ = ["simulated_metrics"]


def simulated_metrics(
    backend: Simulating,
    model: ModelFacts,
    candidate: Candidate,
    device: DeviceSpec,
    workload: Workload,
    simulation: Simulation,
) -> dict[str, Value]:
    """The metrics of one replica, or of the fleet that the rate needs; the same arguments give the same values.

    Raises ``TrialError`` with the reason when the candidate cannot run there.
    """

    def at(load: Workload) -> Mapping[str, Value]:
        return backend.simulate(
            model,
            candidate,
            device,
            load,
            limits=simulation.limits,
            confidence=simulation.confidence,
            seed=simulation.seed,
            own=simulation.ownership,
        )

    if simulation.fleet is None:
        return dict(at(workload))
    return fleet_metrics(simulation.fleet, workload, simulation.limits, at)

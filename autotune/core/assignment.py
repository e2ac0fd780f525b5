"""Everything a trial's process needs to know: one file, read by ``python -m autotune_trials.run_trial FILE``."""

from __future__ import annotations

from pathlib import Path

from autotune.core.candidate import Candidate
from autotune.core.dataset import DataFacts
from autotune.core.device import DeviceSpec
from autotune.core.environment import Environment
from autotune.core.fleet import Fleet
from autotune.core.frozen import Record
from autotune.core.limits import Limit
from autotune.core.model import ModelFacts
from autotune.core.objective import Objective
from autotune.core.ownership import Ownership
from autotune.core.power import PowerModel
from autotune.core.simulation import Simulation
from autotune.core.trial import Trial
from autotune.core.values import Value
from autotune.core.workload import Workload

__all__ = ["Assignment", "SearchContext"]


class SearchContext(Record):
    """What all trials of one search share. Paths, not contents: nothing large travels.

    ``folder`` is the run folder. ``build_parameters`` names the parameters that change the artifact.
    ``metric`` is the quality metric's name (``top1``, ``module:function``), None: fidelity to the original.
    ``power`` None: energy is not estimated. ``custom_op_library`` None: none.
    ``confidence`` is that of simulated values' intervals; ``fleet`` the load that simulated replicas share, None: one alone;
    ``ownership`` how simulated devices are paid for that are bought, None: they are rented.
    ``code_folder`` is where the user's ``module:function`` is found, last of all; None: the current folder.
    """

    folder: Path
    model: ModelFacts
    devices: tuple[DeviceSpec, ...]
    workload: Workload
    objectives: tuple[Objective, ...]
    limits: tuple[Limit, ...] = ()
    data: DataFacts
    metric: str | None = None
    baseline: Candidate
    reference: Candidate
    build_parameters: tuple[str, ...]
    power: PowerModel | None = None
    energy: str = "auto"
    custom_op_library: Path | None = None
    code_folder: Path | None = None
    confidence: float = 0.8
    fleet: Fleet | None = None
    ownership: Ownership | None = None
    environment: Environment
    seed: int = 0

    @property
    def simulation(self) -> Simulation:
        """How simulated trials are computed."""
        return Simulation(
            limits=self.limits,
            confidence=self.confidence,
            seed=self.seed,
            ownership=self.ownership,
            fleet=self.fleet,
        )

    def device(self, name: str) -> DeviceSpec:
        """The device of that name. Raises ``KeyError``."""
        for device in self.devices:
            if device.name == name:
                return device
        raise KeyError(name)


class Assignment(Record):
    """One trial to run. ``bar`` holds the front's metrics when the trial was submitted (one dict a point), for racing.

    ``started_s``: Unix time at which its process was started, told by who started it (what the kernel says of a process is
    off by up to a second); None: nobody told.
    """

    trial: Trial
    context: SearchContext
    bar: tuple[dict[str, Value], ...] = ()
    started_s: float | None = None

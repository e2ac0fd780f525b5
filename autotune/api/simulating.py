"""One configuration simulated, for the command line and for Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from autotune import plugins
from autotune.api.simulated_graphs import refuse_unpriced_load
from autotune.api.this_host import calibration_of, located
from autotune.core.device import DeviceSpec
from autotune.core.errors import NothingFeasible, TrialError, UserError
from autotune.core.frozen import Frozen
from autotune.core.limits import Limit
from autotune.core.model import ModelFacts
from autotune.core.ports import Simulating
from autotune.core.values import Value
from autotune.searching.scenario_file import ServingScenario, read_scenario_file

__all__ = ["Simulated", "simulate", "simulating_backend"]


class Simulated(Frozen):
    """What was asked and what came of it; ``device`` is the name that the backend knows the device by.

    ``calibration`` says what this machine was measured to do, where it is the device; None elsewhere.
    ``calibrated_on``: how many points that somebody measured there narrow it.
    """

    scenario: ServingScenario
    device: str
    calibrated_on: int
    metrics: dict[str, Value]
    calibration: str | None = None

    def standings(self) -> list[tuple[Limit, str]]:
        """Each limit of the scenario on a known metric: held, broken or undecided."""
        known = [limit for limit in self.scenario.limits if limit.metric in self.metrics]
        return [(limit, limit.standing(self.metrics[limit.metric])) for limit in known]


def simulate(
    scenario: ServingScenario | Path,
    confidence: float = 0.8,
    note: Callable[[str], None] = lambda _: None,
    points: Path | None = None,
) -> Simulated:
    """Predict every metric of a scenario, or of one in a YAML file. ``note`` is told, in a line, of what takes long;
    ``points``: a table of what somebody measured on the device.

    Raises ``UserError`` for what cannot be read or is unknown, ``NothingFeasible`` with the reason where it cannot run.
    """
    asked = scenario if isinstance(scenario, ServingScenario) else read_scenario_file(scenario)
    backend = simulating_backend()
    model, device = _model(asked, backend), backend.simulated_device(located((asked.device,), note)[0], points)
    if points is not None:
        _refuse_strange_points(points, asked, device)
    metrics = _predicted(asked, backend, model, device, confidence)
    return Simulated(
        scenario=asked,
        device=device.name,
        calibrated_on=device.calibrated_on or 0,
        metrics=dict(metrics),
        calibration=calibration_of(device),
    )


def _refuse_strange_points(points: Path, asked: ServingScenario, device: DeviceSpec) -> None:
    if asked.graph:
        raise UserError("--calibrate is for language models", "leave it out")
    if not device.calibrated_on:
        raise UserError(
            f"--calibrate {points.name}: no row is of {device.name}",
            "its column 'system' names the device that was measured",
        )


def _predicted(
    asked: ServingScenario, backend: Simulating, model: ModelFacts, device: DeviceSpec, confidence: float
) -> Mapping[str, Value]:
    """Raises ``NothingFeasible`` where it cannot run."""
    try:
        return backend.simulate(
            model,
            asked.candidate,
            device,
            asked.workload,
            limits=asked.limits,
            confidence=confidence,
            seed=asked.seed,
        )
    except TrialError as error:
        raise NothingFeasible(
            f"{asked.model} on {device.name} is not feasible: {error.message}",
            "take another device, precision or batch_size"
            if asked.graph
            else "take more or larger devices (tp), a smaller precision, or shorter requests",
        ) from error


def _model(asked: ServingScenario, backend: Simulating) -> ModelFacts:
    """The graph in the file, or the language model that the backend knows. Raises ``UserError``."""
    if not asked.graph:
        if asked.dims:
            raise UserError(f"dims are an ONNX graph's, and {asked.model} is a language model", "leave dims out")
        return backend.language_model(asked.model)
    from autotune.models import read_model

    refuse_unpriced_load(asked.workload)
    return read_model(Path(asked.model), asked.dims)


def simulating_backend() -> Simulating:
    """The first installed backend that simulates devices. Raises ``UserError`` when there is none."""
    for name in plugins.names("backends"):
        backend = plugins.backend(name)
        if isinstance(backend, Simulating):
            return backend
    raise UserError("no installed backend simulates devices", "run `pip install -e .` again; see `autotune doctor`")

"""Finds the two sides of a gate whose baseline was simulated, and simulates the head with the present code and devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from autotune.api.baselines import is_run, point_of
from autotune.api.run import Run
from autotune.api.simulating import simulating_backend
from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.errors import TrialError, UserError
from autotune.core.model import LANGUAGE_MODEL, ModelFacts
from autotune.core.serving_promise import PROMISE, ServingPromise
from autotune.core.simulated import simulated_metrics
from autotune.core.simulation import Simulation
from autotune.core.values import Value
from autotune.core.workload import Workload
from autotune.gate.simulated import SimulatedSide, gate_simulated
from autotune.gate.verdict import GateReport
from autotune.replay.facts import symbols_of
from autotune.replay.folder import is_exported
from autotune.runs.folder import RunFolder

__all__ = ["SimulatedPoint", "gate_against_simulated", "is_promise", "simulated_point"]


@dataclass(frozen=True)
class SimulatedPoint:
    """A point that was simulated, with everything that decides its numbers. ``model`` None: it is not known what it was of."""

    text: str
    device: DeviceSpec
    candidate: Candidate
    workload: Workload
    simulation: Simulation
    metrics: Mapping[str, Value]
    objectives: tuple[str, ...]
    model: ModelFacts | None = None


def is_promise(folder: Path) -> bool:
    """Whether it is a folder that configures a server, as ``autotune export`` writes it of what was simulated."""
    return (folder / PROMISE).is_file() and not (folder / "config.json").is_file()


def simulated_point(named: str, folder: Path | None = None) -> SimulatedPoint | None:
    """What ``named`` stands for, where that was simulated: a point of a run, or the folder of a server (``folder``: where it was
    fetched to). None: it is something else. Raises ``UserError`` when it is damaged.
    """
    if folder is not None or is_promise(Path(named)):
        return _of_folder(named, folder or Path(named))
    found = point_of(named)
    if found is None:
        return None
    run = Run.open(found[0])
    if run.front.kind != "simulated":
        return None
    point, context = run.point(found[1]), RunFolder.open(run.path).search.context
    return SimulatedPoint(
        text=named,
        device=context.device(point.device),
        candidate=point.candidate,
        workload=context.workload,
        simulation=context.simulation,
        metrics=point.metrics,
        objectives=tuple(objective.metric for objective in run.front.objectives),
        model=context.model,
    )


def gate_against_simulated(head: str, baseline: SimulatedPoint, tolerances: Mapping[str, float]) -> GateReport:
    """Simulate the head with the baseline's candidate, or a simulated point with its own, and compare.

    Raises ``UserError`` for a head that was or would be measured, or that was simulated under another load.
    """
    found = simulated_point(head)
    if found is None:
        point, model = baseline, _head_model(head, baseline)
    else:
        point, model = found, _own_model(found)
        _require_same_load(found, baseline)
    return gate_simulated(
        _simulated(head, point, model),
        SimulatedSide(baseline.text, baseline.metrics),
        baseline.objectives,
        tolerances,
        model=model.stem,
        notes=(f"on {point.device.name}, under {point.workload.name}",),
    )


def _simulated(text: str, point: SimulatedPoint, model: ModelFacts) -> SimulatedSide:
    try:
        metrics = simulated_metrics(
            simulating_backend(), model, point.candidate, point.device, point.workload, point.simulation
        )
    except TrialError as error:
        return SimulatedSide(text, failure=error)
    return SimulatedSide(text, metrics)


def _head_model(head: str, baseline: SimulatedPoint) -> ModelFacts:
    graph = baseline.model is not None and baseline.model.format != LANGUAGE_MODEL
    file = head.endswith(".onnx") and not graph
    if point_of(head) is not None or is_run(Path(head)) or is_exported(Path(head)) or file:
        raise UserError(
            f"{baseline.text} was simulated, and {head} would be measured",
            "compare two simulated ones, or two measured ones",
        )
    if baseline.model is not None and graph:
        return _graph(Path(head), baseline.model)
    return simulating_backend().language_model(head)


def _graph(head: Path, baseline: ModelFacts) -> ModelFacts:
    """The head's facts, at the sizes of symbolic dimensions that the baseline was simulated at."""
    from autotune.models import read_model

    facts = read_model(head)
    named = symbols_of(facts) - {facts.batch.symbol}
    sizes = {name: size for name, size in baseline.dims.items() if name in named}
    return read_model(head, sizes) if sizes else facts


def _own_model(point: SimulatedPoint) -> ModelFacts:
    if point.model is None:
        raise UserError(f"{point.text} does not say what model it was of", "give the model itself, or RUN:POINT")
    return point.model


def _require_same_load(head: SimulatedPoint, baseline: SimulatedPoint) -> None:
    mine, theirs = ((one.workload, one.simulation.fleet) for one in (head, baseline))
    if mine != theirs:
        raise UserError(
            f"{head.text} and {baseline.text} were simulated under different loads", "search under one load"
        )


def _of_folder(named: str, folder: Path) -> SimulatedPoint:
    try:
        promise = ServingPromise.model_validate_json((folder / PROMISE).read_bytes())
    except (OSError, ValidationError) as error:
        raise UserError(f"{folder / PROMISE} cannot be read", "export it again with `autotune export`") from error
    if promise.simulation is None:
        raise UserError(f"{named} does not say how it was simulated", "export it again with `autotune export`")
    return SimulatedPoint(
        text=named,
        device=simulating_backend().simulated_device(promise.device),
        candidate=promise.candidate,
        workload=promise.workload,
        simulation=promise.simulation,
        metrics=promise.metrics,
        objectives=promise.objectives,
    )

"""The context of a simulated search: goals, load and space, without data, power models or counters."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.api.composing import compose_space, offers_for
from autotune.api.goals import goal_objectives
from autotune.api.options import read_workload
from autotune.api.owning import price_remarks, read_ownership
from autotune.api.settings import SearchSettings
from autotune.api.simulated import (
    able_devices,
    calibrated_devices,
    is_language_model,
    read_fleet,
    serving_load,
    simulated_limits,
    simulated_objectives,
    simulated_remarks,
)
from autotune.api.simulated_graphs import graph_limits, graph_load, graph_objectives, graph_remarks
from autotune.api.surroundings import build_parameters, environment_of, run_folder
from autotune.core.assignment import SearchContext
from autotune.core.dataset import DataFacts
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.fleet import Fleet
from autotune.core.limits import Limit
from autotune.core.model import LANGUAGE_MODEL, ModelFacts
from autotune.core.objective import Objective
from autotune.core.ports import Backend
from autotune.core.space import Offer, SearchSpace
from autotune.core.workload import Workload

__all__ = ["simulated_context"]


def simulated_context(
    settings: SearchSettings,
    model: ModelFacts,
    data: DataFacts,
    backends: Sequence[Backend],
    devices: Sequence[DeviceSpec],
) -> tuple[SearchContext, SearchSpace, Sequence[str]]:
    """The context, the space and the remarks. Raises ``UserError`` for every mistake, and when no device runs the model."""
    _refuse_measuring(settings)
    devices = _calibrated(settings, model, backends, devices)
    load = _language_load(settings) if model.format == LANGUAGE_MODEL else (graph_load(settings), None)
    (workload, fleet), ownership = load, read_ownership(settings)
    able, offers = _able(offers_for(backends, model, devices), devices)
    space = compose_space(settings.space, model, offers, workload, simulated=True)
    objectives, limits = _goals(settings, model, able, data, load)
    context = SearchContext(
        folder=run_folder(settings, model),
        model=model,
        devices=tuple(able),
        workload=workload,
        objectives=objectives,
        limits=limits,
        data=data,
        baseline=space.baseline,
        reference=space.reference,
        build_parameters=build_parameters(space),
        energy="off",
        code_folder=settings.code_folder,
        environment=environment_of(backends),
        seed=settings.seed,
        confidence=settings.confidence,
        fleet=fleet,
        ownership=ownership,
    )
    remarks = simulated_remarks(able, offers, workload, fleet, settings.confidence)
    remarks += price_remarks(able, ownership)
    remarks += [] if model.format == LANGUAGE_MODEL else graph_remarks(context, space)
    return context, _screened(context, space, backends), [*model.notes, *remarks]


def _calibrated(
    settings: SearchSettings, model: ModelFacts, backends: Sequence[Backend], devices: Sequence[DeviceSpec]
) -> Sequence[DeviceSpec]:
    """The devices, corrected by the points that were measured on them, where there are any."""
    if settings.calibrate is None:
        return devices
    if model.format != LANGUAGE_MODEL:
        raise UserError("--calibrate is for language models", "leave it out")
    return calibrated_devices(backends, devices, settings.calibrate)


def _able(offers: Sequence[Offer], devices: Sequence[DeviceSpec]) -> tuple[Sequence[DeviceSpec], Sequence[Offer]]:
    """The devices that run the model, and all offers in their order."""
    able = able_devices(devices, offers)
    order = {device.name: place for place, device in enumerate(able)}
    return able, sorted(offers, key=lambda offer: order.get(offer.device, len(order)))


def _screened(context: SearchContext, space: SearchSpace, backends: Sequence[Backend]) -> SearchSpace:
    """The space with what a backend's estimate would try first."""
    from autotune.searching.screened import screened_places

    places = screened_places(space, context, backends)
    return space.model_copy(update={"screened": places})


def _language_load(settings: SearchSettings) -> tuple[Workload, Fleet | None]:
    """The load as it is searched, and the fleet that shares it."""
    asked = read_workload("chat" if settings.workload == "default" else settings.workload)
    fleet = read_fleet(settings, asked)
    return serving_load(asked, fleet), fleet


def _goals(
    settings: SearchSettings,
    model: ModelFacts,
    devices: Sequence[DeviceSpec],
    data: DataFacts,
    load: tuple[Workload, Fleet | None],
) -> tuple[tuple[Objective, ...], tuple[Limit, ...]]:
    """What to optimise, and within which limits."""
    workload, fleet = load
    if model.format != LANGUAGE_MODEL:
        return graph_objectives(settings, workload), graph_limits(settings.limits, workload)
    wanted = goal_objectives(settings, devices, data, energy=True)
    return simulated_objectives(wanted, fleet), simulated_limits(settings.limits, fleet)


def _refuse_measuring(settings: SearchSettings) -> None:
    """Refuse what only measuring could use."""
    given: dict[str, object] = {
        "--metric": settings.metric,
        "--recover": settings.recover,
        "--power-model": settings.power_model,
        "--energy counter": settings.energy == "counter" or None,
        "--custom-op-lib": settings.custom_op_library,
    }
    if is_language_model(settings.model):
        given |= {"--data": settings.data, "--preprocess": settings.preprocess, "--dim": settings.dims or None}
    for option, value in given.items():
        if value is not None:
            raise UserError(f"{option} is for what is measured, and these devices are simulated", "leave it out")
    if not 0.5 <= settings.confidence < 1:
        raise UserError(
            f"--confidence {settings.confidence:g} is no confidence", "give at least 0.5 and less than 1: 0.8"
        )

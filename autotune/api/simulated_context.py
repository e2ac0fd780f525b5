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
    read_fleet,
    serving_load,
    simulated_limits,
    simulated_objectives,
    simulated_remarks,
)
from autotune.api.surroundings import build_parameters, environment_of, run_folder
from autotune.core.assignment import SearchContext
from autotune.core.dataset import DataFacts
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.model import LANGUAGE_MODEL, ModelFacts
from autotune.core.ports import Backend
from autotune.core.space import SearchSpace

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
    asked = read_workload(_workload_name(settings, model))
    fleet, ownership = read_fleet(settings, asked), read_ownership(settings)
    workload = serving_load(asked, fleet) if model.format == LANGUAGE_MODEL else asked
    offers = offers_for(backends, model, devices)
    able = able_devices(devices, offers)
    order = {device.name: place for place, device in enumerate(able)}
    offers = sorted(offers, key=lambda offer: order.get(offer.device, len(order)))
    space = compose_space(settings.space, model, offers, workload)
    context = SearchContext(
        folder=run_folder(settings, model),
        model=model,
        devices=tuple(able),
        workload=workload,
        objectives=simulated_objectives(goal_objectives(settings, able, data, energy=True), model, fleet),
        limits=simulated_limits(settings.limits, fleet),
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
    return context, _screened(context, space, backends), [*model.notes, *remarks]


def _screened(context: SearchContext, space: SearchSpace, backends: Sequence[Backend]) -> SearchSpace:
    """The space with what a backend's estimate would try first."""
    from autotune.searching.screened import screened_places

    places = screened_places(space, context, backends)
    return space.model_copy(update={"screened": places})


def _workload_name(settings: SearchSettings, model: ModelFacts) -> str:
    return "chat" if settings.workload == "default" and model.format == LANGUAGE_MODEL else settings.workload


def _refuse_measuring(settings: SearchSettings) -> None:
    """Refuse what only measuring could use."""
    given = {
        "--metric": settings.metric,
        "--recover": settings.recover,
        "--power-model": settings.power_model,
        "--energy counter": settings.energy == "counter" or None,
        "--custom-op-lib": settings.custom_op_library,
    }
    for option, value in given.items():
        if value is not None:
            raise UserError(f"{option} is for what is measured, and these devices are simulated", "leave it out")
    if not 0.5 <= settings.confidence < 1:
        raise UserError(
            f"--confidence {settings.confidence:g} is no confidence", "give at least 0.5 and less than 1: 0.8"
        )

"""The context of a search that measures: goals, load, energy, offers and space."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.api.composing import compose_space, find_power, offers_for
from autotune.api.goals import goal_objectives
from autotune.api.labels import refuse_unfit_labels
from autotune.api.loads import load_of
from autotune.api.options import read_limits, read_metric, read_objectives
from autotune.api.recovering import recovery_s, refuse_no_recovery, with_recovery
from autotune.api.settings import SearchSettings, budget_of
from autotune.api.shapes import shape_remarks
from autotune.api.simulated import refuse_only_simulated, refuse_tokens
from autotune.api.surroundings import build_parameters, environment_of, run_folder
from autotune.api.uncalibrated import legal_with
from autotune.core.assignment import SearchContext
from autotune.core.dataset import DataFacts
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.limits import Limit
from autotune.core.model import LANGUAGE_MODEL, ModelFacts
from autotune.core.objective import Objective
from autotune.core.ports import Backend
from autotune.core.power import PowerModel
from autotune.core.space import Offer, SearchSpace
from autotune.core.units import counted
from autotune.core.workload import Workload

__all__ = ["measured_context"]


def measured_context(
    settings: SearchSettings,
    model: ModelFacts,
    data: DataFacts,
    backends: Sequence[Backend],
    devices: Sequence[DeviceSpec],
) -> tuple[SearchContext, SearchSpace, Sequence[str]]:
    """The context, the space and the remarks. Raises ``UserError`` for every mistake, and when no backend runs the model."""
    refuse_only_simulated(settings)
    _refuse_language_model(model)
    workload = load_of(settings)
    refuse_tokens(workload)
    metric = read_metric(settings.metric, data)
    refuse_unfit_labels(metric, data, model)
    power, objectives, limits = _goals(settings, workload, data, devices)
    space = compose_space(settings.space, model, _offers(settings, model, data, backends, devices), workload)
    context = SearchContext(
        folder=run_folder(settings, model),
        model=model,
        devices=tuple(devices),
        workload=workload,
        objectives=objectives,
        limits=limits,
        data=data,
        metric=metric,
        baseline=space.baseline,
        reference=space.reference,
        build_parameters=build_parameters(space),
        power=power,
        energy=settings.energy,
        custom_op_library=settings.custom_op_library,
        code_folder=settings.code_folder,
        environment=environment_of(backends),
        seed=settings.seed,
    )
    return context, space, _remarks(context, settings)


def _refuse_language_model(model: ModelFacts) -> None:
    if model.format == LANGUAGE_MODEL:
        raise UserError(
            f"{model.stem} is a language model, which only simulated devices run here",
            "name them: --device h100-sxm --device l40s (`autotune devices` lists them)",
        )


def _goals(
    settings: SearchSettings, workload: Workload, data: DataFacts, devices: Sequence[DeviceSpec]
) -> tuple[PowerModel | None, tuple[Objective, ...], tuple[Limit, ...]]:
    """What energy is estimated with (None: with nothing), what to optimise, and within which limits."""
    power, has_counter = find_power(settings, devices)
    energy = settings.energy != "off" and (power is not None or has_counter)
    wanted = goal_objectives(settings, devices, data, energy=energy)
    objectives = read_objectives(wanted, workload, data, energy=energy)
    return power, objectives, read_limits(settings.limits, workload, data, energy=energy)


def _offers(
    settings: SearchSettings,
    model: ModelFacts,
    data: DataFacts,
    backends: Sequence[Backend],
    devices: Sequence[DeviceSpec],
) -> list[Offer]:
    """What the backends offer, as far as the data and the time for training allow."""
    recover_s = recovery_s(settings.recover, budget_of(settings))
    offers = legal_with(data, with_recovery(recover_s, offers_for(backends, model, devices)))
    refuse_no_recovery(recover_s, offers)
    return offers


def _remarks(context: SearchContext, settings: SearchSettings) -> tuple[str, ...]:
    remarks = list(context.model.notes)
    power = context.power
    if power is not None:
        remarks.append(f"energy is estimated from CPU seconds with the power model {power.name!r} ({power.source})")
    elif context.energy == "auto" and "energy" not in {objective.metric for objective in context.objectives}:
        remarks.append(
            "energy is unknown here: no counter, and no power model for this CPU (--power-model FILE gives one)"
        )
    if settings.power_model is not None and power is None:
        why = "--energy off" if settings.energy == "off" else "a counter measures energy here"
        remarks.append(f"--power-model {settings.power_model.name} is not used: {why}")
    if context.data.path is None:
        remarks.append("no --data: quality is fidelity to the original on generated inputs")
    elif context.data.preprocess == "":
        remarks.append("no --preprocess: images are stretched to the model's size and divided by 255")
    if context.data.path is not None and context.data.split.whole:
        remarks.append(f"only {counted(context.data.count, 'sample')}: they are not split, so quality is optimistic")
    remarks += shape_remarks(context.workload, context.data)
    return tuple(remarks)

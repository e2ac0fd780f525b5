"""From what a person asked for to a search that can start: everything is read and checked before any trial."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autotune import plugins
from autotune.api.composing import compose_space, find_devices, find_power, offers_for
from autotune.api.goals import goal_objectives, with_goals_load
from autotune.api.labels import refuse_unfit_labels
from autotune.api.options import (
    parse_dims,
    read_limits,
    read_metric,
    read_objectives,
    read_workload,
    refuse_unknown_choices,
)
from autotune.api.recovering import recovery_s, refuse_no_recovery, with_recovery
from autotune.api.settings import SearchSettings
from autotune.api.shapes import (
    distinct_shapes,
    fixed_sizes,
    mixing,
    refuse_unfit_shapes,
    shape_remarks,
    usual_sizes,
)
from autotune.api.simulated import is_language_model, no_data, read_language_model, refuse_only_simulated
from autotune.api.simulated_context import simulated_context
from autotune.api.surroundings import build_parameters, environment_of, run_folder
from autotune.api.this_host import located
from autotune.api.uncalibrated import legal_with
from autotune.core.assignment import SearchContext
from autotune.core.dataset import DataFacts
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.model import LANGUAGE_MODEL, ModelFacts
from autotune.core.ports import Backend
from autotune.core.space import SearchSpace
from autotune.core.units import counted
from autotune.core.workload import Workload
from autotune.runs.search_file import SearchedModel, SearchFile, Tracking
from autotune.user_code import find_code_in

if TYPE_CHECKING:
    from autotune.data import Source

__all__ = ["DEFAULT_BUDGET_S", "Prepared", "prepare", "read_model_and_data"]

DEFAULT_BUDGET_S = 3600.0


@dataclass(frozen=True)
class Prepared:
    """A search that was read and checked, and where its run folder will be."""

    search: SearchFile
    folder: Path


def prepare(settings: SearchSettings, note: Callable[[str], None] = lambda _: None) -> Prepared:
    """Read the model, the data and the machine; compose the space. Raises ``UserError`` for every mistake found.

    ``note`` is told, in a line, of what takes long.
    """
    refuse_unknown_choices(settings)
    settings = _absolute(settings)
    measured = with_goals_load(settings)
    settings = settings if is_language_model(settings.model) else measured  # a language model's load has tokens
    model, data = read_model_and_data(settings)
    backends = [plugins.backend(name) for name in settings.backends or plugins.names("backends")]
    devices = find_devices(backends, located(settings.devices, note))
    context, space, remarks = _context(settings, model, data, backends, devices)
    search = _search_file(settings, context, space, remarks)
    return Prepared(search, context.folder)


def read_model_and_data(settings: SearchSettings) -> tuple[ModelFacts, DataFacts]:
    """Read both; sizes of symbolic dimensions that are not given are those of the data, else of the commonest shape.

    Raises ``UserError``.
    """
    if is_language_model(settings.model):
        return read_language_model(settings.model), no_data()
    from autotune.data import open_data, sizes_in
    from autotune.models import read_model

    find_code_in(settings.code_folder or Path.cwd())
    fixed, load = fixed_sizes(parse_dims(settings.dims)), _load(settings)
    model = read_model(settings.model, fixed, settings.custom_op_library)
    refuse_unfit_shapes(load, model)
    source = _source(settings)
    sizes = usual_sizes(load) | sizes_in(source, model)
    if sizes.keys() - fixed.keys():
        model = read_model(settings.model, sizes | fixed, settings.custom_op_library)
    return model, open_data(source, model, settings.seed, shapes=distinct_shapes(load))


def _load(settings: SearchSettings) -> Workload:
    return mixing(read_workload(settings.workload), parse_dims(settings.dims))


def _source(settings: SearchSettings) -> Source | None:
    """The user's data, found once: a loader is run for it. None: there are none."""
    from autotune.data import open_source

    if settings.data is not None:
        return open_source(settings.data, settings.preprocess)
    if settings.preprocess is not None:
        raise UserError("--preprocess is for images, and there are none", "give a folder of images with --data")
    return None


def _context(
    settings: SearchSettings,
    model: ModelFacts,
    data: DataFacts,
    backends: Sequence[Backend],
    devices: Sequence[DeviceSpec],
) -> tuple[SearchContext, SearchSpace, Sequence[str]]:
    if devices[0].kind == "simulated":
        return simulated_context(settings, model, data, backends, devices)
    refuse_only_simulated(settings)
    if model.format == LANGUAGE_MODEL:
        raise UserError(
            f"{model.stem} is a language model, which only simulated devices run here",
            "name them: --device h100-sxm --device l40s (`autotune devices` lists them)",
        )
    workload = _load(settings)
    metric = read_metric(settings.metric, data)
    refuse_unfit_labels(metric, data, model)
    power, has_counter = find_power(settings, devices)
    energy = settings.energy != "off" and (power is not None or has_counter)
    wanted = goal_objectives(settings, devices, data, energy=energy)
    objectives = read_objectives(wanted, workload, data, energy=energy)
    limits = read_limits(settings.limits, workload, data, energy=energy)
    recover_s = recovery_s(settings.recover, _budget_s(settings))
    offers = legal_with(data, with_recovery(recover_s, offers_for(backends, model, devices)))
    refuse_no_recovery(recover_s, offers)
    space = compose_space(settings.space, model, offers, workload)
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


def _search_file(
    settings: SearchSettings, context: SearchContext, space: SearchSpace, remarks: Sequence[str]
) -> SearchFile:
    model = context.model
    return SearchFile(
        id=uuid.uuid4().hex[:12],
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        kind=context.devices[0].kind,
        model=SearchedModel(
            path=model.path,
            sha256=model.sha256,
            format=model.format,
            inputs=tuple(tensor.name for tensor in model.inputs),
        ),
        space=space,
        devices=context.devices,
        workload=context.workload,
        objectives=context.objectives,
        limits=tuple(limit.text for limit in context.limits),
        budget_s=_budget_s(settings),
        max_trials=settings.trials,
        patience=settings.patience,
        sampler=settings.sampler,
        seed=settings.seed,
        executor=settings.executor,
        data=context.data,
        metric=context.metric,
        tracking=Tracking(enabled=settings.tracking, uri=settings.tracking_uri),
        environment=context.environment,
        context=context,
        asked=settings.model_dump(mode="json"),
        remarks=tuple(remarks),
    )


def _budget_s(settings: SearchSettings) -> float | None:
    return settings.budget_s if settings.budget_s or settings.trials else DEFAULT_BUDGET_S


def _absolute(settings: SearchSettings) -> SearchSettings:
    """Make paths absolute: a trial's process, and a later resume, may run elsewhere."""
    changes: dict[str, object] = {"code_folder": (settings.code_folder or Path.cwd()).absolute()}
    changes |= {
        name: path.absolute()
        for name in ("model", "custom_op_library", "power_model", "output", "calibrate")
        if (path := getattr(settings, name)) is not None
        and (name != "model" or path.exists() or path.suffix in (".onnx", ".pt2"))
    }
    changes["devices"] = tuple(
        str(Path(name).absolute()) if Path(name).is_file() else name for name in settings.devices
    )
    if settings.data is not None and Path(settings.data).exists():
        changes["data"] = str(Path(settings.data).absolute())
    for name in ("space", "workload"):
        text = getattr(settings, name)
        if text is not None and Path(text).is_file():
            changes[name] = str(Path(text).absolute())
    return settings.model_copy(update=changes)


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

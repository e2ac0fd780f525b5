"""From what a person asked for to a search that can start: everything is read and checked before any trial."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autotune import plugins
from autotune.api.composing import find_devices
from autotune.api.goals import with_goals_load
from autotune.api.loads import load_of
from autotune.api.measured_context import measured_context
from autotune.api.options import parse_dims, refuse_unknown_choices
from autotune.api.settings import SearchSettings, budget_of
from autotune.api.shapes import distinct_shapes, fixed_sizes, refuse_unfit_shapes, usual_sizes
from autotune.api.simulated import is_language_model, no_data, read_language_model
from autotune.api.simulated_context import simulated_context
from autotune.api.this_host import located
from autotune.core.assignment import SearchContext
from autotune.core.dataset import DataFacts
from autotune.core.errors import UserError
from autotune.core.model import ModelFacts
from autotune.core.space import SearchSpace
from autotune.runs.search_file import SearchedModel, SearchFile, Tracking
from autotune.user_code import find_code_in

if TYPE_CHECKING:
    from autotune.data import Source

__all__ = ["Prepared", "prepare", "read_model_and_data"]


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
    composed = simulated_context if devices[0].kind == "simulated" else measured_context
    context, space, remarks = composed(settings, model, data, backends, devices)
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
    fixed, load = fixed_sizes(parse_dims(settings.dims)), load_of(settings)
    model = read_model(settings.model, fixed, settings.custom_op_library)
    refuse_unfit_shapes(load, model)
    source = _source(settings)
    sizes = usual_sizes(load) | sizes_in(source, model)
    if sizes.keys() - fixed.keys():
        model = read_model(settings.model, sizes | fixed, settings.custom_op_library)
    return model, open_data(source, model, settings.seed, shapes=distinct_shapes(load))


def _source(settings: SearchSettings) -> Source | None:
    """The user's data, found once: a loader is run for it. None: there are none."""
    from autotune.data import open_source

    if settings.data is not None:
        return open_source(settings.data, settings.preprocess)
    if settings.preprocess is not None:
        raise UserError("--preprocess is for images, and there are none", "give a folder of images with --data")
    return None


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
        budget_s=budget_of(settings),
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

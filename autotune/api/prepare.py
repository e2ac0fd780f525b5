"""From what a person asked for to a search that can start: everything is read and checked before any trial."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import autotune
from autotune import plugins
from autotune.api.options import parse_dims, read_limits, read_metric, read_objectives, read_workload
from autotune.api.settings import SearchSettings
from autotune.core.assignment import SearchContext
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError, nearest
from autotune.core.model import ModelFacts
from autotune.core.ports import Backend
from autotune.core.power import PowerModel
from autotune.core.space import Offer, SearchSpace
from autotune.core.workload import Workload
from autotune.runs.search_file import SearchedModel, SearchFile, Tracking

__all__ = ["DEFAULT_BUDGET_S", "Prepared", "prepare"]

DEFAULT_BUDGET_S = 3600.0
DEFAULT_SPACES = {"onnx": "onnx"}


@dataclass(frozen=True)
class Prepared:
    """A search that was read and checked, and where its run folder will be. ``remarks`` are for the person."""

    search: SearchFile
    folder: Path
    remarks: tuple[str, ...]


def prepare(settings: SearchSettings) -> Prepared:
    """Read the model, the data and the machine; compose the space. Raises ``UserError`` for every mistake found."""
    from autotune.data import open_data
    from autotune.host.environment import environment
    from autotune.models import read_model

    workload = read_workload(settings.workload)
    model = read_model(settings.model, parse_dims(settings.dims), settings.custom_op_library)
    data = open_data(settings.data, model, settings.seed)
    metric = read_metric(settings.metric, data)
    limits = read_limits(settings.limits, data)
    backends = _backends(settings.backends)
    devices = _devices(backends, settings.devices)
    power = _power(settings, devices)
    objectives = read_objectives(settings.objectives, workload, data, energy=_energy_known(settings, power))
    space = _space(settings, model, _offers(backends, model, devices), workload)
    versions = {name: version for backend in backends for name, version in backend.versions().items()}
    here = environment(versions | {"autotune-inference": autotune.__version__})
    folder = (settings.output or _default_folder(model)).absolute()
    context = SearchContext(
        folder=folder,
        model=model,
        devices=tuple(devices),
        workload=workload,
        objectives=objectives,
        limits=limits,
        data=data,
        metric=metric,
        baseline=space.baseline,
        reference=space.reference,
        build_parameters=tuple(p.name for p in space.parameters if p.affects == "build") + ("runtime",),
        power=power,
        energy=settings.energy,
        custom_op_library=settings.custom_op_library,
        environment=here,
        seed=settings.seed,
    )
    search = SearchFile(
        id=uuid.uuid4().hex[:12],
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        kind=_kind(devices),
        model=SearchedModel(
            path=model.path,
            sha256=model.sha256,
            format=model.format,
            inputs=tuple(tensor.name for tensor in model.inputs),
        ),
        space=space,
        devices=tuple(devices),
        workload=workload,
        objectives=objectives,
        limits=tuple(limit.text for limit in limits),
        budget_s=_budget(settings),
        max_trials=settings.trials,
        patience=settings.patience,
        sampler=settings.sampler,
        seed=settings.seed,
        executor=settings.executor,
        data=data,
        metric=metric,
        tracking=Tracking(uri=settings.tracking_uri) if settings.tracking else Tracking(uri=None, enabled=False),
        environment=here,
        context=context,
    )
    return Prepared(search=search, folder=folder, remarks=_remarks(model, power, settings))


def _backends(names: Sequence[str]) -> list[Backend]:
    return [plugins.backend(name) for name in names or plugins.names("backends")]


def _devices(backends: Sequence[Backend], wanted: Sequence[str]) -> list[DeviceSpec]:
    found = {device.name: device for backend in backends for device in backend.devices()}
    for name in wanted:
        if name not in found:
            raise UserError(f"there is no device {name!r}{nearest(name, found)}", f"devices here: {', '.join(found) or 'none'}")
    chosen = [found[name] for name in wanted] if wanted else [d for d in found.values() if d.kind == "real"]
    if len({device.kind for device in chosen}) > 1:
        raise UserError("real and simulated devices cannot be searched together", "run one search for each kind")
    return chosen


def _offers(backends: Sequence[Backend], model: ModelFacts, devices: Sequence[DeviceSpec]) -> list[Offer]:
    return [
        backend.offers(model, device)
        for backend in backends
        for device in devices
        if device.name in {known.name for known in backend.devices()}
    ]


def _space(settings: SearchSettings, model: ModelFacts, offers: Sequence[Offer], workload: Workload) -> SearchSpace:
    from autotune.searching.space_file import base_of, narrow

    wanted, text = settings.space or DEFAULT_SPACES[model.format], ""
    file = Path(wanted)
    if file.suffix in (".yaml", ".yml"):
        if not file.is_file():
            raise UserError(f"--space {wanted}: no such file", "give the name of a space (see `autotune spaces`) or a YAML file")
        text = file.read_text(encoding="utf-8")
        wanted = base_of(text, str(file)) or DEFAULT_SPACES[model.format]
    space = plugins.space_function(wanted)(model, offers, workload)
    return narrow(space, text, str(file)) if text else space


def _power(settings: SearchSettings, devices: Sequence[DeviceSpec]) -> PowerModel | None:
    from autotune.measure.power_models import find_power_model

    if settings.energy == "off":
        return None
    cpu = next((device for device in devices if device.device_class == "cpu"), None)
    return find_power_model(cpu.model, cpu.isa, settings.power_model) if cpu else None


def _energy_known(settings: SearchSettings, power: PowerModel | None) -> bool:
    return settings.energy != "off" and power is not None


def _kind(devices: Sequence[DeviceSpec]):  # type: ignore[no-untyped-def]
    return devices[0].kind


def _budget(settings: SearchSettings) -> float | None:
    return settings.budget_s if settings.budget_s or settings.trials else DEFAULT_BUDGET_S


def _default_folder(model: ModelFacts) -> Path:
    from autotune.runs.folder import default_run_path

    return default_run_path(model.stem)


def _remarks(model: ModelFacts, power: PowerModel | None, settings: SearchSettings) -> tuple[str, ...]:
    remarks = list(model.notes)
    if settings.energy != "off":
        remarks.append(
            f"energy is estimated from CPU seconds with the power model {power.name!r} ({power.source})"
            if power
            else "energy is unknown here: no counter and no power model for this CPU (--power-model FILE declares one)"
        )
    return tuple(remarks)

"""Brings the spokes together: devices, offers, the space, and what energy is taken from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autotune import plugins
from autotune.api.settings import SearchSettings
from autotune.api.simulated import device_of
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError, nearest
from autotune.core.model import LANGUAGE_MODEL, ModelFacts
from autotune.core.ports import Backend, Simulating
from autotune.core.power import PowerModel
from autotune.core.space import Offer, SearchSpace
from autotune.core.workload import Workload

__all__ = ["compose_space", "find_devices", "find_power", "offers_for"]

DEFAULT_SPACES = {"onnx": "onnx", "pt2": "torch", LANGUAGE_MODEL: "language"}
SIMULATED_SPACES = DEFAULT_SPACES | {"onnx": "graph"}


def find_devices(backends: Sequence[Backend], wanted: Sequence[str]) -> list[DeviceSpec]:
    """Return the devices of those names; without names, every real one. Raises ``UserError``."""
    found = {device.name: device for backend in backends for device in backend.devices()}
    found |= {
        name: device for name in wanted if name not in found and (device := device_of(backends, name)) is not None
    }
    for name in wanted:
        if name not in found:
            raise UserError(
                f"there is no device {name!r}{nearest(name, found)}", f"devices here: {', '.join(found) or 'none'}"
            )
    chosen = (
        list({found[name].name: found[name] for name in wanted}.values())
        if wanted
        else [d for d in found.values() if d.kind == "real"]
    )
    if len({device.kind for device in chosen}) > 1:
        raise UserError("real and simulated devices cannot be searched together", "run one search for each kind")
    if not chosen:
        raise UserError("no backend finds a device here", "see `autotune doctor`")
    return chosen


def offers_for(backends: Sequence[Backend], model: ModelFacts, devices: Sequence[DeviceSpec]) -> list[Offer]:
    """Ask each backend what it can do with the model on each of the devices that it knows."""
    return [backend.offers(model, device) for backend in backends for device in devices if _knows(backend, device)]


def _knows(backend: Backend, device: DeviceSpec) -> bool:
    if device.kind == "simulated":
        return isinstance(backend, Simulating)
    return any(device.name == known.name for known in backend.devices())


def compose_space(
    wanted: str | None, model: ModelFacts, offers: Sequence[Offer], workload: Workload, *, simulated: bool = False
) -> SearchSpace:
    """Return the space of that name, or of that YAML file; None: the default of the model's format. Raises ``UserError``.

    ``simulated``: the offers are of simulated devices.
    """
    from autotune.searching.space_file import base_of, narrow

    default = (SIMULATED_SPACES if simulated else DEFAULT_SPACES)[model.format]
    if wanted is None or not wanted.endswith((".yaml", ".yml")):
        return plugins.space_function(wanted or default)(model, offers, workload)
    text = _text(Path(wanted))
    space = plugins.space_function(base_of(text, wanted) or default)(model, offers, workload)
    return narrow(space, text, wanted)


def find_power(settings: SearchSettings, devices: Sequence[DeviceSpec]) -> tuple[PowerModel | None, bool]:
    """Return the power model to estimate energy with (None: none is known) and whether a counter measures it instead.

    Raises ``UserError`` when a counter is asked for and there is none.
    """
    if settings.energy not in ("auto", "counter", "off"):
        raise UserError(f"--energy {settings.energy!r} is none of auto, counter, off", "leave it out for auto")
    if settings.energy == "off":
        return None, False
    from autotune.measure.counters import find_counter
    from autotune.measure.power_models import find_power_model

    counter = find_counter()
    if not isinstance(counter, str):
        return None, True
    if settings.energy == "counter":
        raise UserError(f"--energy counter: {counter}", "leave it out to have energy estimated, or take --energy off")
    cpu = next((device for device in devices if device.device_class == "cpu"), None)
    return (find_power_model(cpu.model, cpu.isa, settings.power_model) if cpu else None), False


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"--space {file} cannot be read: {error}", "give a space's name (`autotune spaces`) or a YAML file"
        ) from error

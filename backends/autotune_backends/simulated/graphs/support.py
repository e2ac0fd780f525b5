"""Whether a device can run a graph at all: some run a few models or operators, whatever the time that they are given."""

from __future__ import annotations

from fnmatch import fnmatch

from autotune.core.graph_work import GraphWork
from autotune.core.model import ModelFacts
from autotune.core.units import format_duration
from autotune_backends.simulated.devices.device import SimulatedDevice
from autotune_backends.simulated.refusals import Unsupported

__all__ = ["refuse_unsupported"]


def refuse_unsupported(model: ModelFacts, work: GraphWork, device: SimulatedDevice) -> None:
    """Raise ``Unsupported`` when the device's ``supports`` says no, with what another design would cost in time.

    A model that is quantised already is refused too: which of its arithmetic a runtime does in which format is not in the graph.
    """
    if model.quantised:
        raise Unsupported(
            f"{model.stem} is quantised already: give the model that it was made from, and its format is searched"
        )
    name = model.stem
    models = device.supports.get("models")
    if isinstance(models, list | tuple) and not any(fnmatch(name, str(pattern)) for pattern in models):
        raise Unsupported(f"{device.name} cannot run {name}: it supports {', '.join(map(str, models))} only")
    operators = device.supports.get("operators")
    if not isinstance(operators, list | tuple):
        return
    needed = dict.fromkeys([*(node.operator for node in work.nodes), *(one.operator for one in work.unpriced)])
    lacking = [operator for operator in needed if operator not in operators]
    if lacking:
        shown = ", ".join(lacking[:4]) + (f" and {len(lacking) - 4} more" if len(lacking) > 4 else "")
        raise Unsupported(f"{device.name} cannot run {name}: its design has no {shown}{_another(device)}")


def _another(device: SimulatedDevice) -> str:
    """What it takes to have a design, and a device, that can."""
    parts = []
    if device.build_s is not None:
        parts.append(f"{format_duration(device.build_s)} to build another")
    if device.lead_time_days:
        parts.append(f"{device.lead_time_days:g} days until the device is there")
    return f" ({', '.join(parts)})" if parts else ""

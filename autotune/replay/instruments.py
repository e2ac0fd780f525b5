"""What a deployed folder is measured with again, and where."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autotune.core.artifact import Artifact
from autotune.core.clock import Clock
from autotune.core.deployment import ExportedConfig
from autotune.core.device import DeviceSpec
from autotune.core.environment import Environment
from autotune.core.ports import Session
from autotune.core.power import PowerModel
from autotune.replay.sides import open_side

if TYPE_CHECKING:
    from autotune.measure.counters import EnergyCounter
    from autotune.measure.disturbance import Watch

__all__ = ["Instruments", "environment_here", "instruments_for"]


@dataclass(frozen=True)
class Instruments:
    """What speed is measured with. ``power`` None: energy is not estimated; ``counter`` None: nor counted.

    ``watch`` None: this machine is watched.
    """

    clock: Clock
    power: PowerModel | None = None
    open_side: Callable[[Artifact, DeviceSpec], Session] = open_side
    watch: Watch | None = None
    counter: EnergyCounter | None = None


def instruments_for(config: ExportedConfig, here: Environment, clock: Clock) -> Instruments:
    """What the promise was measured with: an energy that was counted is not compared with an estimate, nor the other way."""
    from autotune.measure.counters import counter_for
    from autotune.measure.power_models import find_power_model

    energy = config.promise.metrics.get("energy")
    if energy is None or not energy.known:
        return Instruments(clock)
    if energy.provenance == "measured":
        return Instruments(clock, counter=counter_for("counter"))
    return Instruments(clock, config.power or find_power_model(here.cpu_model, here.isa))


def environment_here() -> Environment:
    """This machine, with the versions of the runtimes."""
    from importlib.metadata import PackageNotFoundError, version

    from autotune.host.environment import environment

    versions: dict[str, str] = {}
    for name in ("onnxruntime", "openvino", "torch"):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return environment(versions)

"""Power of one device: what it draws idle, and what use of its arithmetic and of its memory adds, up to its limit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from autotune_backends.simulated.devices.device import Power, SimulatedDevice
from autotune_backends.simulated.fitted import fitted

__all__ = ["DevicePower", "battery_life", "device_power"]


@dataclass(frozen=True, slots=True)
class DevicePower:
    """How steeply use of the arithmetic units (``compute_gain``), of the memory (``memory_gain``), and time in the small
    kernels of sampling (``other_gain``), which use little of both, approach ``peak_w``.

    Power rises steeply and then levels off at the design limit, as clocks are lowered to hold it.
    """

    idle_w: float
    peak_w: float
    compute_gain: float
    memory_gain: float
    other_gain: float

    def watts(self, compute: float, memory: float, other: float = 0.0) -> float:
        """At these utilisations and share of time, each 0 to 1."""
        gained = compute * self.compute_gain + memory * self.memory_gain + other * self.other_gain
        use = 1.0 - math.exp(-gained)
        return self.idle_w + (self.peak_w - self.idle_w) * use


def device_power(power: Power | None) -> DevicePower | None:
    """None when the device's power is unknown. Gains that it lacks are those fitted to H100 (ML.ENERGY leaderboard v3)."""
    if power is None:
        return None
    usual = fitted()
    return DevicePower(
        power.idle_w,
        power.peak_w,
        power.compute_gain or usual.compute_gain,
        power.memory_gain or usual.memory_gain,
        usual.other_gain,
    )


def battery_life(device: SimulatedDevice, watts: float | None) -> dict[str, float]:
    """``battery_life``, seconds at that power until a full battery is empty; nothing without a battery or a known power."""
    joules = device.power.battery_j if device.power is not None else None
    return {"battery_life": joules / watts} if joules and watts else {}

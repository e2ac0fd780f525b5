"""Power of one device: what it draws idle, and what use of its arithmetic and of its memory adds, up to its limit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from autotune_backends.simulated.devices.device import Power

__all__ = ["DevicePower", "device_power"]

_COMPUTE_GAIN, _MEMORY_GAIN = 6.0, 1.23
"""Fitted to Llama-3.1 8B and 70B on H100 under vLLM 0.11 (ML.ENERGY leaderboard v3). Power rises steeply and then levels off at
the design limit, as clocks are lowered to hold it."""


@dataclass(frozen=True, slots=True)
class DevicePower:
    """``compute_gain`` and ``memory_gain``: how steeply use of the arithmetic units and of the memory approach ``peak_w``."""

    idle_w: float
    peak_w: float
    compute_gain: float = _COMPUTE_GAIN
    memory_gain: float = _MEMORY_GAIN

    def watts(self, compute: float, memory: float) -> float:
        """At these utilisations, 0 to 1."""
        use = 1.0 - math.exp(-(compute * self.compute_gain + memory * self.memory_gain))
        return self.idle_w + (self.peak_w - self.idle_w) * use


def device_power(power: Power | None) -> DevicePower | None:
    """None when the device's power is unknown."""
    if power is None:
        return None
    return DevicePower(
        power.idle_w, power.peak_w, power.compute_gain or _COMPUTE_GAIN, power.memory_gain or _MEMORY_GAIN
    )

"""Power of one device: what it draws idle, and what use of its arithmetic and of its memory adds, up to its limit."""

from __future__ import annotations

from dataclasses import dataclass

from autotune_backends.simulated.devices.device import Power

__all__ = ["DevicePower", "device_power"]

_COMPUTE_SHARE, _MEMORY_SHARE = 0.95, 0.72
"""Of (peak - idle), where a device's own were not fitted: those of an H100 that serves language models."""


@dataclass(frozen=True, slots=True)
class DevicePower:
    """``compute_w`` and ``memory_w`` at full use; together they may pass ``peak_w``, which caps the sum."""

    idle_w: float
    compute_w: float
    memory_w: float
    peak_w: float

    def watts(self, compute: float, memory: float) -> float:
        """At these utilisations, 0 to 1."""
        return min(self.peak_w, self.idle_w + compute * self.compute_w + memory * self.memory_w)


def device_power(power: Power | None) -> DevicePower | None:
    """None when the device's power is unknown."""
    if power is None:
        return None
    span = power.peak_w - power.idle_w
    return DevicePower(
        idle_w=power.idle_w,
        compute_w=power.compute_w if power.compute_w is not None else _COMPUTE_SHARE * span,
        memory_w=power.memory_w if power.memory_w is not None else _MEMORY_SHARE * span,
        peak_w=power.peak_w,
    )

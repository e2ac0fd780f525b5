"""How long it takes until devices are there that one does not have yet."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.values import Value
from autotune_backends.simulated.devices import SimulatedDevice

__all__ = ["lead_time"]

_DAY_S = 86400.0


def lead_time(devices: Sequence[SimulatedDevice]) -> dict[str, Value]:
    """``lead_time``, seconds until the last kind of them is there, as their descriptions estimate; nothing where one does not."""
    known = [device for device in devices if device.lead_time_days is not None]
    if len(known) < len(devices):
        return {}
    last = max(known, key=lambda device: device.lead_time_days or 0.0)
    basis = f"{last.name}, as its description says"
    return {
        "lead_time": Value(value=_DAY_S * (last.lead_time_days or 0.0), unit="s", provenance="estimated", basis=basis)
    }

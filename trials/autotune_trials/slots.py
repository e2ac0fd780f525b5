"""How many trials may run at once, and where: a pure function, shared by all executors."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.device import DeviceSpec

__all__ = ["free_slots"]


def free_slots(device: DeviceSpec, running: Sequence[DeviceSpec], cpus: int) -> int:
    """How many more trials can start on ``device`` of a host with ``cpus`` CPUs, given the devices of those running.

    A real device has one slot. A CPU's excludes every other slot of its host: a neighbour would be part of what is timed.
    Simulated devices compute and time nothing: one a CPU.
    """
    if device.kind == "simulated":
        return max(cpus - len(running), 0)
    if any(_is_cpu(other) for other in running) or (running and _is_cpu(device)):
        return 0
    return 0 if any(other.name == device.name for other in running) else 1


def _is_cpu(device: DeviceSpec) -> bool:
    return device.kind == "real" and device.device_class == "cpu"

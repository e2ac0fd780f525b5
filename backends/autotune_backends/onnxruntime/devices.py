"""The devices that onnxruntime can use here."""

from __future__ import annotations

from autotune.core.device import DeviceSpec

__all__ = ["cpu_device"]


def cpu_device() -> DeviceSpec:
    """The CPU, as much of it as may really be used."""
    from autotune.host.cpus import counted_cpus
    from autotune.host.isa import read_cpu
    from autotune.host.memory import memory_limit

    cpu = read_cpu()
    return DeviceSpec(
        name="cpu", model=cpu.model, cpus=counted_cpus(), memory_bytes=memory_limit().bytes, isa=cpu.flags
    )

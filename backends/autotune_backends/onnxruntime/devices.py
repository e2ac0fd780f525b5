"""The devices that onnxruntime can use here."""

from __future__ import annotations

from autotune.core.device import DeviceSpec

__all__ = ["channel_block", "cpu_device"]

_WIDE = "avx512f"


def cpu_device() -> DeviceSpec:
    """The CPU, as much of it as may really be used."""
    from autotune.host.cpus import counted_cpus
    from autotune.host.isa import read_cpu
    from autotune.host.memory import memory_limit

    cpu = read_cpu()
    return DeviceSpec(
        name="cpu", model=cpu.model, cpus=counted_cpus(), memory_bytes=memory_limit().bytes, isa=cpu.flags
    )


def channel_block(device: DeviceSpec) -> int:
    """Channels that onnxruntime lays out side by side: a convolution of fewer computes a whole block all the same.

    Float32 lanes of a vector register, as its ``MlasNchwcGetBlockSize`` has them.
    """
    return 16 if _WIDE in device.isa else 8

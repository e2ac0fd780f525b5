"""What onnxruntime makes of a device."""

from __future__ import annotations

from autotune.core.device import DeviceSpec

__all__ = ["channel_block"]

_WIDE = "avx512f"


def channel_block(device: DeviceSpec) -> int:
    """Channels that onnxruntime lays out side by side: a convolution of fewer computes a whole block all the same.

    Float32 lanes of a vector register, as its ``MlasNchwcGetBlockSize`` has them.
    """
    return 16 if _WIDE in device.isa else 8

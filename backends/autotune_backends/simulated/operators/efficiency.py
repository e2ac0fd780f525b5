"""What fraction of a peak kernels reach where no measurement of this device and precision says so."""

from __future__ import annotations

from typing import Final

from autotune_backends.simulated.devices.device import SimulatedDevice
from autotune_backends.simulated.precision import Precision

__all__ = [
    "attention_decode_share",
    "attention_prefill_share",
    "compute_peak",
    "gemm_share",
    "lacking",
    "memory_share",
]

_GEMM: Final = {"gpu": 0.70, "cpu": 0.55, "asic": 0.60, "fpga": 0.50, "pim": 0.60, "phone": 0.40}
_MEMORY: Final = {"gpu": 0.80, "cpu": 0.70, "asic": 0.75, "fpga": 0.65, "pim": 0.70, "phone": 0.60}
_NARROW_GEMM: Final = 0.75  # of the 16-bit share: fp8 against bf16 on H100 and H200, tensors of one scale
_NARROW_MEMORY: Final = 0.90  # of the 16-bit share
_INT4_MEMORY: Final = 0.70  # of the 16-bit share: unpacking; A100 reaches 0.55 of its bandwidth, against 0.77
_SIXTEEN: Final = ("bf16", "fp16")
_STAND_IN: Final = {"bf16": ("fp16",), "fp16": ("bf16",), "tf32": ("fp32",)}


def compute_peak(device: SimulatedDevice, precision: Precision) -> float | None:
    """Operations a second in the format the precision multiplies in; None: the device has no units for it."""
    names = (precision.compute, *_STAND_IN.get(precision.compute, ()))
    found = next((device.peak[name] for name in names if name in device.peak), None)
    if found is None and precision.compute in _SIXTEEN:  # wider arithmetic can stand in for narrower, at its own speed
        return device.peak.get("fp32") or (device.peak.get("int8") if precision.weight_only else None)
    return found


def gemm_share(device: SimulatedDevice, precision: Precision) -> tuple[float, bool]:
    """(fraction of the peak, whether it was measured)."""
    measured = device.efficiency.gemm
    for key in (precision.name, precision.compute, *_STAND_IN.get(precision.compute, ())):
        if key in measured:
            return measured[key], True
    base = measured.get("bf16", _GEMM[device.device_class])
    return base * (_NARROW_GEMM if precision.compute in ("fp8", "int8", "fp4") else 1.0), False


def memory_share(device: SimulatedDevice, precision: Precision) -> tuple[float, bool]:
    """(fraction of the bandwidth while weights are read, whether it was measured)."""
    measured = device.efficiency.memory
    for key in (precision.name, *_STAND_IN.get(precision.name, ())):
        if key in measured:
            return measured[key], True
    base = measured.get("bf16", _MEMORY[device.device_class])
    if precision.weight_bits < 8:
        return base * _INT4_MEMORY, False
    return base * (_NARROW_MEMORY if precision.weight_bits < 16 else 1.0), False


def attention_prefill_share(device: SimulatedDevice) -> float:
    """Fraction of the 16-bit peak, long prompts."""
    return device.efficiency.attention_prefill or 0.75 * device.efficiency.gemm.get("bf16", _GEMM[device.device_class])


def attention_decode_share(device: SimulatedDevice) -> float:
    """Fraction of the bandwidth at which the KV cache is read."""
    return device.efficiency.attention_decode or _MEMORY[device.device_class]


def lacking(device: SimulatedDevice, precision: Precision) -> str:
    """Why the device cannot multiply in that format, and what it can."""
    has = ", ".join(device.peak)
    return f"{device.name} has no {precision.compute} arithmetic (it has {has})"

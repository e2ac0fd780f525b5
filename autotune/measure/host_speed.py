"""What a machine reaches, from the seconds that a few small models take on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from autotune.measure.micro_models import MICRO_MODELS

__all__ = ["HostSpeed", "host_speed"]


@dataclass(frozen=True)
class HostSpeed:
    """``fp32_peak`` and ``int8_peak``: operations a second of one large product. ``gemm``: the share that products of the sizes
    of small encoders reach; ``conv`` and ``depthwise``: of that. ``launch_s`` and ``gemm_floor_s``: of the smallest kernels.

    ``bandwidth``: bytes moved by a kernel → bytes a second.
    """

    fp32_peak: float
    int8_peak: float
    gemm: float
    conv: float
    depthwise: float
    launch_s: float
    gemm_floor_s: float
    bandwidth: Mapping[int, float]

    @property
    def far_bandwidth(self) -> float:
        """Of what no cache holds."""
        return self.bandwidth[max(self.bandwidth)]

    def __str__(self) -> str:
        near = max(self.bandwidth.values())
        return (
            f"fp32 {self.fp32_peak / 1e9:.0f} and int8 {self.int8_peak / 1e9:.0f} billion operations a second, usual products at "
            f"{self.gemm:.2f} of that, convolutions at {self.conv:.2f} and depthwise ones at {self.depthwise:.2f} of those, "
            f"{self.far_bandwidth / 1e9:.1f} GB/s from memory and {near / 1e9:.1f} near, "
            f"{self.launch_s * 1e6:.1f} µs a kernel and {self.gemm_floor_s * 1e6:.1f} µs a product at least"
        )


def host_speed(seconds: Mapping[str, float]) -> HostSpeed:
    """``seconds``: of one run of each of ``MICRO_MODELS``, by name. Raises ``KeyError`` when one is missing."""
    launch_s = seconds["launches"] / MICRO_MODELS["launches"].kernels
    floor_s = seconds["small_gemms"] / MICRO_MODELS["small_gemms"].kernels
    rates = {
        name: model.flops / max(seconds[name] - model.kernels * floor_s, 0.1 * seconds[name])
        for name, model in MICRO_MODELS.items()
        if model.flops
    }
    peak = max(rates["gemm_1024"], rates["gemm_384"])
    usual = _mean(rates["gemm_1024"], rates["gemm_384"])
    return HostSpeed(
        fp32_peak=peak,
        int8_peak=rates["int8"],
        gemm=usual / peak,
        conv=_mean(rates["conv_3x3"], rates["conv_1x1"]) / usual,
        depthwise=rates["depthwise"] / usual,
        launch_s=launch_s,
        gemm_floor_s=floor_s,
        bandwidth=_bandwidth(seconds, launch_s),
    )


def _bandwidth(seconds: Mapping[str, float], launch_s: float) -> dict[int, float]:
    found: dict[int, float] = {}
    for name in ("memory_small", "memory_middle", "memory_large"):
        model = MICRO_MODELS[name]
        moving_s = max(seconds[name] - model.kernels * launch_s, 0.1 * seconds[name])
        found[round(model.moved_bytes / model.kernels)] = model.moved_bytes / moving_s
    return found


def _mean(*rates: float) -> float:
    """Geometric: as many models are faster than it as are slower, by the same factor."""
    return float(prod(rates) ** (1 / len(rates)))

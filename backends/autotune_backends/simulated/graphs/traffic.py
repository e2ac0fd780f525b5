"""At which rate a kernel's bytes move: caches are faster than the memory behind them, where a device's file knows how much."""

from __future__ import annotations

from bisect import bisect_right
from math import exp, log

from autotune_backends.simulated.devices.device import SimulatedDevice

__all__ = ["bandwidth_at"]


def bandwidth_at(device: SimulatedDevice, moved_bytes: float) -> float:
    """Bytes a second of a kernel that moves so many. Between the sizes that were measured, a line in both logarithms; beyond the
    largest, the memory's own as soon as twice as much is moved. Never less than the memory's own.
    """
    near = sorted(device.near_bandwidth.items())
    if not near:
        return device.bandwidth
    points = [*near, (2 * near[-1][0], device.bandwidth)]
    sizes = [float(size) for size, _ in points]
    place = bisect_right(sizes, moved_bytes)
    if place == 0 or place == len(points):
        return max(device.bandwidth, points[0 if place == 0 else -1][1])
    (low, fast), (high, slow) = points[place - 1], points[place]
    share = log(moved_bytes / low) / log(high / low)
    return max(device.bandwidth, exp(log(fast) + share * (log(slow) - log(fast))))

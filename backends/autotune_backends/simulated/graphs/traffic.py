"""How a kernel's bytes move: at which rate, how often, and whether arithmetic waits for them."""

from __future__ import annotations

from bisect import bisect_right
from math import exp, log

from autotune_backends.simulated.devices.device import SimulatedDevice
from autotune_backends.simulated.operators import overlapped

__all__ = ["at_once", "bandwidth_at", "times_moved"]


def at_once(device: SimulatedDevice, compute_s: float, traffic_s: float) -> float:
    """Seconds of both. An accelerator has thousands of threads, of which some compute while others wait; the few of a CPU do
    one after the other, nearly. (Seen on nine models on one thread, which this was chosen on: see ``backends/README.md``.)
    """
    return compute_s + traffic_s if device.device_class == "cpu" else overlapped(compute_s, traffic_s)


def times_moved(device: SimulatedDevice) -> float:
    """How often what is written passes: a CPU's caches read a line before it is overwritten (STREAM calls it write-allocate)."""
    return 2.0 if device.device_class == "cpu" else 1.0


def bandwidth_at(device: SimulatedDevice, moved_bytes: float) -> float:
    """Bytes a second of a kernel that moves so many; caches are faster, where the device's file knows how much.

    Between the sizes that were measured, a line in both logarithms; beyond the largest, the memory's own as soon as twice as
    much is moved. Never less than the memory's own.
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

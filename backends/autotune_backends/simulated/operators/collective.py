"""All-reduce between the devices of a tensor-parallel group."""

from __future__ import annotations

from dataclasses import dataclass

from autotune_backends.simulated.devices.device import Link, SimulatedDevice

__all__ = ["AllReduceCost", "all_reduce_cost"]


@dataclass(frozen=True, slots=True)
class AllReduceCost:
    """``latency_s`` of the smallest message; ``byte_s`` for each byte of the tensor that is reduced."""

    latency_s: float
    byte_s: float
    fitted: bool

    def seconds(self, message_bytes: float) -> float:
        """Of a tensor of so many bytes on each device."""
        return self.latency_s + message_bytes * self.byte_s


def all_reduce_cost(device: SimulatedDevice, count: int) -> AllReduceCost:
    """For a group of ``count``; nothing for one device. Raises ``ValueError`` when the device has no link.

    Between measured sizes, and where none was measured: a ring moves ``2 (n - 1) / n`` times the message over each link.
    """
    if count <= 1:
        return AllReduceCost(0.0, 0.0, fitted=True)
    if device.link is None:
        raise ValueError(f"{device.name} has no link to others of its kind")
    measured = device.link.all_reduce.get(count)
    if measured is not None:
        return AllReduceCost(measured[0], 1.0 / measured[1], fitted=True)
    return _ring(device.link, count)


def _ring(link: Link, count: int) -> AllReduceCost:
    moved = 2.0 * (count - 1) / count
    one_way = link.bandwidth / 2.0 * 0.7  # of the link's rate, large messages
    return AllReduceCost(link.latency_s * count**0.5, moved / one_way, fitted=False)

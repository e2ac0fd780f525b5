"""What, besides a candidate on a device under a workload, decides the numbers of a simulated point."""

from __future__ import annotations

from autotune.core.fleet import Fleet
from autotune.core.frozen import Record
from autotune.core.limits import Limit
from autotune.core.ownership import Ownership

__all__ = ["Simulation"]


class Simulation(Record):
    """``limits`` are what requests must hold to count, and what a fleet is sized by; ``fleet`` None: one replica alone.

    ``ownership`` None: devices are rented. Intervals hold the true value with probability ``confidence``.
    """

    limits: tuple[Limit, ...] = ()
    confidence: float = 0.8
    seed: int = 0
    ownership: Ownership | None = None
    fleet: Fleet | None = None

"""A device's power model: what energy is estimated from where no counter can be read."""

from __future__ import annotations

from autotune.core.frozen import Record

__all__ = ["PowerModel", "Watts"]


class Watts(Record):
    """A power in watts that is known to lie between ``low`` and ``high``."""

    typical: float
    low: float
    high: float


class PowerModel(Record):
    """Power of one logical CPU: ``idle_w`` when it does nothing, ``busy_w`` when it computes without pause.

    Energy of a window = ``idle_w`` * (wall time * counted CPUs) + (``busy_w`` - ``idle_w``) * CPU seconds used.
    ``source`` says where the figures are from.
    """

    name: str
    idle_w: Watts
    busy_w: Watts
    source: str

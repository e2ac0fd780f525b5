"""Raw results of one round. Plain dataclasses: they live inside timing loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Requests", "Samples", "Tensors"]

Tensors = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True)
class Requests:
    """What a round sends, over and over: ``inputs`` in turn, each one request of ``items`` samples.

    ``key`` names these inputs, so that they are handed to a session's process once.
    ``shapes`` names the shape of each input where the load mixes several, empty: they are all alike; then ``cycle`` requests
    in a row, from wherever they begin, hold every shape in its share, and a round is a whole number of them.
    """

    key: str
    inputs: tuple[Tensors, ...]
    items: int = 1
    shapes: tuple[str, ...] = ()
    cycle: int = 1


@dataclass(frozen=True)
class Samples:
    """One round. ``latency_s``: seconds per request, shape ``[requests]``; ``items`` per request; ``wall_s`` for all of it.

    ``cpu_s``: CPU seconds that the session's processes used; ``memory_bytes``: their peak resident memory so far;
    ``energy_j``: from a counter. None: unknown. ``counters``: whatever else was counted (involuntary switches, …).
    ``first`` is the index into the requests' inputs that the round began with.
    """

    latency_s: NDArray[np.float64]
    items: int
    wall_s: float
    cpu_s: float | None = None
    memory_bytes: int | None = None
    energy_j: float | None = None
    counters: Mapping[str, float] = field(default_factory=dict)
    first: int = 0

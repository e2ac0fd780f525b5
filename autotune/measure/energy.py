"""Energy estimated from CPU seconds and wall time, for machines whose counters cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from autotune.core.power import PowerModel

__all__ = ["Use", "energy_bounds_j", "energy_j", "energy_ratio_bounds"]

Series = NDArray[np.float64]


@dataclass(frozen=True)
class Use:
    """What rounds used: ``wall_s`` and ``cpu_s``, one number a round, while ``cpus`` CPUs were reserved."""

    wall_s: Series
    cpu_s: Series
    cpus: int


def energy_j(model: PowerModel, use: Use) -> Series:
    """Return joules a round, by the model's typical figures (see ``core.power`` for the formula)."""
    return _joules(model.idle_w.typical, model.busy_w.typical, use)


def energy_bounds_j(model: PowerModel, use: Use) -> tuple[Series, Series]:
    """Return joules a round if the model's figures were all at their low, and all at their high ends."""
    return (
        _joules(model.idle_w.low, model.busy_w.low, use),
        _joules(model.idle_w.high, model.busy_w.high, use),
    )


def energy_ratio_bounds(model: PowerModel, mine: Use, theirs: Use) -> tuple[float, float]:
    """Return between what factors the ratio of two energies may change, relative to the one by typical figures.

    Both sides ran on the same device: one model holds for both, so the ratio is taken at each corner of its figures.
    """
    typical = _ratio(model.idle_w.typical, model.busy_w.typical, mine, theirs)
    idles, busies = (model.idle_w.low, model.idle_w.high), (model.busy_w.low, model.busy_w.high)
    ratios = [_ratio(idle, busy, mine, theirs) / typical for idle, busy in product(idles, busies)]
    return min(1.0, *ratios), max(1.0, *ratios)


def _joules(idle_w: float, busy_w: float, use: Use) -> Series:
    return idle_w * use.wall_s * use.cpus + (busy_w - idle_w) * use.cpu_s


def _ratio(idle_w: float, busy_w: float, mine: Use, theirs: Use) -> float:
    return float(np.median(_joules(idle_w, busy_w, mine)) / np.median(_joules(idle_w, busy_w, theirs)))

"""When the requests of an open loop arrive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from autotune.core.token_load import TokenLoad

__all__ = ["arrival_times"]

_CYCLES_POINTS = 4096


def arrival_times(
    load: TokenLoad, rate_per_s: float, count: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """``count`` times in seconds, ascending, at ``rate_per_s`` on average.

    Gaps are exponential (``poisson``), equal (``steady``), or gamma-distributed of shape 1 / cv² (``bursty``), which is how
    serving benchmarks make bursts (vLLM's ``--burstiness`` is that shape). ``diurnal`` maps Poisson arrivals at rate 1 through
    the inverse of the rate's integral.
    """
    if load.arrivals == "steady":
        return np.arange(count) / rate_per_s
    if load.arrivals == "bursty":
        shape = 1 / load.burstiness**2
        return np.cumsum(generator.gamma(shape, 1 / (shape * rate_per_s), count))
    expected = np.cumsum(generator.exponential(1.0, count))
    if load.arrivals == "diurnal":
        return _through_the_day(expected, load, rate_per_s)
    return expected / rate_per_s


def _through_the_day(expected: NDArray[np.float64], load: TokenLoad, rate_per_s: float) -> NDArray[np.float64]:
    """Times at which so many arrivals are expected, at rate ``r (1 - (peak - 1) cos(2 pi t / period))``: from the trough on."""
    swing, period = load.peak - 1, load.period_s
    cycles = np.floor(expected / (rate_per_s * period))
    phase = np.linspace(0.0, 1.0, _CYCLES_POINTS)
    within = phase - swing * np.sin(2 * np.pi * phase) / (2 * np.pi)
    return period * (cycles + np.interp(expected / (rate_per_s * period) - cycles, within, phase))

"""Percentiles under a queue: requests of one busy spell are alike, so whole windows of time are resampled, not requests."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from autotune.core.serving import Served
from autotune.measure.intervals import MIN_ROUNDS, Interval
from autotune.measure.percentiles import supported_percentiles

__all__ = ["percentile_intervals", "windows"]

Series = NDArray[np.float64]

_RESAMPLES = 400
_FEWEST, _MOST = 8, 30  # windows
_REQUESTS = 20  # a window, at least, on average


def windows(served: Served) -> list[Series]:
    """The latencies of the requests that arrived in each of 8 to 30 equal spans of time, in time order; empty spans left out."""
    count = len(served.latency_s)
    if count == 0:
        return []
    spans = int(np.clip(count // _REQUESTS, _FEWEST, _MOST))
    edges = np.linspace(served.arrivals_s[0], served.arrivals_s[-1], spans + 1)[1:-1]
    places = np.searchsorted(edges, served.arrivals_s, side="right")
    return [taken for span in range(spans) if len(taken := served.latency_s[places == span])]


def percentile_intervals(
    served: Served, wanted: tuple[float, ...] = (), alpha: float = 0.05, seed: int = 0
) -> dict[float, Interval]:
    """The median and each percentile that so many requests support (``percentiles.py``), with intervals.

    ``wanted``: which of the supported ones; empty: all. Bootstrap over windows (Efron & Tibshirani, "An Introduction to the
    Bootstrap", 1993, chapter 8: blocks of a dependent series). A
    percentile that lies among dropped requests is left out.
    """
    spans = windows(served)
    if not spans:
        return {}
    levels = (50.0, *supported_percentiles(len(served.latency_s)))
    levels = tuple(level for level in levels if not wanted or level in wanted)
    pooled = np.concatenate(spans)
    values = {level: _percentile(pooled, level) for level in levels}
    resampled = _resample(spans, levels, seed) if len(spans) >= MIN_ROUNDS else None
    found: dict[float, Interval] = {}
    for position, level in enumerate(levels):
        if math.isfinite(values[level]):
            found[level] = _interval(values[level], None if resampled is None else resampled[:, position], alpha)
    return found


def _resample(spans: list[Series], levels: tuple[float, ...], seed: int) -> Series:
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, len(spans), size=(_RESAMPLES, len(spans)))
    return np.asarray(
        [[_percentile(pooled, level) for level in levels] for pooled in (_joined(spans, row) for row in drawn)]
    )


def _joined(spans: list[Series], chosen: NDArray[np.int64]) -> Series:
    return np.concatenate([spans[index] for index in chosen])


def _percentile(samples: Series, level: float) -> float:
    """The smallest sample with at least that share at or below it (LoadGen's rule too)."""
    index = max(math.ceil(level / 100 * len(samples)) - 1, 0)
    return float(np.partition(samples, index)[index])


def _interval(value: float, resampled: Series | None, alpha: float) -> Interval:
    if resampled is None:
        return Interval(value, None, None)
    low, high = np.quantile(resampled, [alpha / 2, 1 - alpha / 2], method="closest_observation")
    return Interval(value, float(low), float(high) if math.isfinite(high) else None)

"""Intervals by bootstrap over rounds. The round is the unit: requests within one are not independent of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MIN_ROUNDS", "Interval", "autocorrelation_time", "median_interval"]

Series = NDArray[np.float64]

_RESAMPLES = 2000
MIN_ROUNDS = 3
_MOST_ALIKE = 0.95


@dataclass(frozen=True)
class Interval:
    """An estimate, and the ends of its interval; ``low`` and ``high`` None: too few rounds for one."""

    value: float
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float:
        """Half of the interval's width relative to the value's size; infinite without an interval."""
        if self.low is None or self.high is None or self.value == 0:
            return float("inf")
        return (self.high - self.low) / 2 / abs(self.value)


def median_interval(series: Series, alpha: float = 0.05, seed: int = 0, block: int = 1) -> Interval:
    """Return the median of ``series`` (one number a round, in time order) with a ``1 - alpha`` interval.

    Bootstrap over rounds, ``block`` consecutive ones resampled together (circular blocks: Politis & Romano 1992). Rounds that
    are alike tell less than independent ones: the interval is stretched about the median by the root of the autocorrelation
    time, as if there were that many times fewer (Bayley & Hammersley, "The 'Effective' Number of Independent Observations in
    an Autocorrelated Time Series", J. Royal Statistical Society 1946). The percentiles are taken further out than ``alpha``
    for few rounds (Hesterberg, "What Teachers Should Know About the Bootstrap", 2015: the expanded percentile interval).
    """
    count = len(series)
    value = float(np.median(series))
    if count < MIN_ROUNDS:
        return Interval(value, None, None)
    alike = min(autocorrelation_time(series), count / MIN_ROUNDS)
    medians = np.median(series[_block_indices(count, block, seed)], axis=1)
    tail = _expanded_tail(alpha, count / max(alike, block))
    low, high = value + np.sqrt(alike) * (np.quantile(medians, [tail, 1 - tail]) - value)
    return Interval(value, float(max(low, min(0.0, series.min()))), float(high))


def autocorrelation_time(series: Series) -> float:
    """Return how many consecutive rounds count as one: 1 for independent rounds, more when neighbours are alike.

    That of a first-order autoregressive series, ``(1 + r) / (1 - r)``, from the correlation ``r`` of neighbours' ranks (an
    outlier counts no more than another round), corrected for the bias that it has in short series (Marriott & Pope,
    Biometrika 1954). In short series it is steadier than sums over many lags.
    """
    count = len(series)
    ranks = np.argsort(np.argsort(series, kind="stable"), kind="stable") - (count - 1) / 2
    raw = float(ranks[:-1] @ ranks[1:] / (ranks @ ranks)) if count > 1 else 0.0
    likeness = min(raw + (1 + 4 * raw) / max(count, 1), _MOST_ALIKE)
    return (1 + likeness) / (1 - likeness) if likeness > 0 else 1.0


def _block_indices(count: int, block: int, seed: int) -> NDArray[np.intp]:
    """Rows of resampled indices, shape ``[resamples, count]``, whole blocks that wrap around the end."""
    generator = np.random.default_rng(seed)
    blocks = -(-count // block)
    starts = generator.integers(0, count, size=(_RESAMPLES, blocks, 1))
    indices = (starts + np.arange(block)) % count
    return np.asarray(indices.reshape(_RESAMPLES, blocks * block)[:, :count], dtype=np.intp)


def _expanded_tail(alpha: float, units: float) -> float:
    """The bootstrap percentile to take for a two-sided ``alpha`` with so many independent units."""
    from scipy.special import ndtr, stdtrit

    freedom = max(units - 1, 1.0)
    return float(ndtr(np.sqrt(units / freedom) * stdtrit(freedom, alpha / 2)))

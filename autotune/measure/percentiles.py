"""Percentiles: which ones so many samples support, and bounds for them by order statistics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from autotune.measure.intervals import Interval

__all__ = ["least_samples", "percentile_interval", "supported_percentiles"]

_WANTED = (90.0, 99.0)
_CONFIDENCE = 0.99
_DISCARDED = 1


def least_samples(percentile: float, confidence: float = _CONFIDENCE, discarded: int = _DISCARDED) -> int:
    """Return how many samples a percentile needs: 64 for p90, 662 for p99.

    MLPerf LoadGen's rule (``loadgen/early_stopping.cc``; Reddi et al., "MLPerf Inference Benchmark", ISCA 2020): with the
    ``discarded`` largest samples left out, the next one bounds the percentile from above with that confidence:
    ``P(Binomial(n, 1 - p) <= discarded) <= 1 - confidence``.
    """
    from scipy.special import bdtr

    above, count = 1 - percentile / 100, discarded + 1
    while bdtr(discarded, count, above) > 1 - confidence:
        count += 1
    return count


def supported_percentiles(count: int) -> tuple[float, ...]:
    """Return which percentiles above the median to give for ``count`` samples.

    With too few for p90, it is the highest multiple of 5 above the median that they support, if any.
    """
    wanted = tuple(percentile for percentile in _WANTED if count >= least_samples(percentile))
    if wanted:
        return wanted
    lesser = [percentile for percentile in np.arange(85.0, 50.0, -5.0) if count >= least_samples(percentile)]
    return tuple(float(percentile) for percentile in lesser[:1])


def percentile_interval(rounds: Sequence[NDArray[np.float64]], percentile: float, alpha: float = 0.05) -> Interval:
    """Return a percentile of all samples (one array a round) with order-statistic bounds.

    Bounds on the share of samples below it, taken as exact binomial bounds (Clopper & Pearson 1934), are read off the
    ordered samples (Woodruff, "Confidence Intervals for Medians and Other Position Measures", JASA 1952). Samples of one
    round are alike: the binomial's size is the effective one (Korn & Graubard, Survey Methodology 1998), found from how much
    the rounds' own shares vary.
    """
    pooled = np.sort(np.concatenate(list(rounds)))
    share = percentile / 100
    value = float(np.quantile(pooled, share, method="higher"))
    size = _effective_size(rounds, value, share)
    low, high = _share_bounds(share, size, alpha)
    last = len(pooled) - 1
    return Interval(value, float(pooled[int(low * last)]), float(pooled[min(last, int(np.ceil(high * last)))]))


def _effective_size(rounds: Sequence[NDArray[np.float64]], value: float, share: float) -> float:
    total = sum(len(samples) for samples in rounds)
    if len(rounds) < 2:
        return float(total)
    shares = np.asarray([np.mean(samples <= value) for samples in rounds])
    variance = float(np.var(shares, ddof=1)) / len(rounds)
    return float(total) if variance == 0 else float(np.clip(share * (1 - share) / variance, 1.0, total))


def _share_bounds(share: float, size: float, alpha: float) -> tuple[float, float]:
    from scipy.special import betaincinv

    below = share * size
    low = betaincinv(below, size - below + 1, alpha / 2)
    high = betaincinv(below + 1, size - below, 1 - alpha / 2) if below < size else 1.0
    return float(low), float(high)

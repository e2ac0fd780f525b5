"""Intervals for scores over samples: shares of right answers, means, and differences paired sample by sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from autotune.measure.intervals import Interval

__all__ = ["jackknife", "mean_interval", "paired_drop", "wilson"]

Scores = NDArray[np.float64]

_Z = 1.959963984540054  # 97.5 % of a standard normal
_RESAMPLES = 2000
_GROUPS = 20
_MANY = 500


def mean_interval(scores: Scores, seed: int = 0) -> Interval:
    """Return the mean of one score a sample: Wilson's interval when all are 0 or 1, else a bootstrap over samples."""
    if _binary(scores):
        return wilson(int(scores.sum()), len(scores))
    return _mean(scores, seed)


def wilson(successes: int, count: int) -> Interval:
    """Return a share with Wilson's score interval (Wilson, JASA 1927), which stays honest near 0 and 1."""
    share = successes / count
    centre = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    half = _Z / (1 + _Z**2 / count) * np.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    low = 0.0 if successes == 0 else float(centre - half)
    high = 1.0 if successes == count else float(centre + half)
    return Interval(share, low, high)


def paired_drop(reference: Scores, found: Scores, seed: int = 0) -> Interval:
    """Return how much lower ``found`` scores than ``reference`` on the same samples.

    When all scores are 0 or 1, only the samples that the two answer differently count (as in McNemar's test); the interval
    is Bonett and Price's adjusted one ("Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on
    Paired Data", J. Educational and Behavioral Statistics 2012). Otherwise a bootstrap of the mean difference.
    """
    if not (_binary(reference) and _binary(found)):
        return _mean(reference - found, seed)
    count = len(reference)
    lost, gained = float((reference > found).sum()), float((found > reference).sum())
    a, b = (lost + 1) / (count + 2), (gained + 1) / (count + 2)
    half = _Z * float(np.sqrt((a + b - (a - b) ** 2) / (count + 2)))
    return Interval((lost - gained) / count, max(-1.0, a - b - half), min(1.0, a - b + half))


def jackknife(score: Callable[[NDArray[np.intp]], float], count: int) -> Interval:
    """Return ``score`` over samples ``0..count-1`` for a function that has no score per sample.

    Delete-a-group jackknife: as many evaluations as groups, at most 20 (Kott, J. Official Statistics 2001), and Student's t.
    """
    whole = score(np.arange(count))
    groups = min(_GROUPS, count)
    if groups < 2:
        return Interval(whole, None, None)
    return _jackknife_interval(whole, [score(kept) for kept in _all_but_one_group(count, groups)])


def _jackknife_interval(whole: float, parts: Sequence[float]) -> Interval:
    from scipy.special import stdtrit

    groups = len(parts)
    error = np.sqrt((groups - 1) / groups * np.sum((np.asarray(parts) - whole) ** 2))
    half = float(stdtrit(groups - 1, 0.975) * error)
    return Interval(whole, whole - half, whole + half)


def _all_but_one_group(count: int, groups: int) -> list[NDArray[np.intp]]:
    samples = np.arange(count)
    return [samples[samples % groups != group] for group in range(groups)]


def _binary(scores: Scores) -> bool:
    return bool(np.isin(scores, (0.0, 1.0)).all())


def _mean(scores: Scores, seed: int) -> Interval:
    """Bootstrap over samples; with many, the normal interval, which is the same then and needs no resampling."""
    count, value = len(scores), float(scores.mean())
    if count < 2:
        return Interval(value, None, None)
    if count > _MANY:
        half = _Z * float(scores.std(ddof=1)) / count**0.5
        return Interval(value, value - half, value + half)
    picks = np.random.default_rng(seed).integers(0, count, size=(_RESAMPLES, count))
    low, high = np.quantile(scores[picks].mean(axis=1), [0.025, 0.975])
    return Interval(value, float(low), float(high))

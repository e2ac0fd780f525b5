"""Tail latencies: the ratio of two percentiles over all requests of all rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from autotune.gate.evidence import LEVEL, Bounded, loss_of
from autotune.measure import Measured
from autotune.measure.intervals import Interval
from autotune.measure.percentiles import least_samples

__all__ = ["Tail", "tail_of"]

Latencies = NDArray[np.float64]

_RESAMPLES = 200


@dataclass(frozen=True)
class Tail(Bounded):
    """``attempts[k]`` holds both sides' latencies of one attempt, ``[rounds, requests]`` each, rounds paired by their index.

    The interval is by bootstrap over pairs of rounds, for requests within one are not independent.
    """

    percentile: float
    attempts: tuple[tuple[Latencies, Latencies], ...]

    @cached_property
    def interval(self) -> Interval:
        """Of the loss."""
        pairs = [pair for mine, theirs in self.attempts for pair in zip(mine, theirs, strict=True)]
        value = self._loss(pairs)
        if len(pairs) < 3:
            return Interval(value, None, None)
        draw = np.random.default_rng(0).integers(0, len(pairs), size=(_RESAMPLES, len(pairs)))
        losses = [self._loss([pairs[index] for index in row]) for row in draw]
        low, high = np.quantile(losses, [LEVEL, 1 - LEVEL])
        return Interval(value, float(low), float(high))

    def confirmed(self, bound: float) -> bool:
        """Each of at least two attempts says so."""
        losses = [self._loss(list(zip(mine, theirs, strict=True))) for mine, theirs in self.attempts]
        return len(losses) > 1 and all(loss > bound for loss in losses)

    def _loss(self, pairs: Sequence[tuple[Latencies, Latencies]]) -> float:
        mine, theirs = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
        share = self.percentile / 100
        return loss_of(float(np.quantile(mine, share) / np.quantile(theirs, share)), "min")


def tail_of(measured: Sequence[Measured], percentile: float) -> Tail | None:
    """The tail of these attempts' single requests; None when they are too few for this percentile (see ``percentiles``)."""
    attempts = tuple(pair for one in measured if (pair := _latencies(one.arrays)) is not None)
    fewest = min((sum(pair[side].size for pair in attempts) for side in (0, 1)), default=0)
    return Tail(percentile, attempts) if attempts and fewest >= least_samples(percentile) else None


def _latencies(arrays: Mapping[str, NDArray[np.generic]]) -> tuple[Latencies, Latencies] | None:
    mine, theirs = (arrays.get(f"{prefix}single_stream_latency_s") for prefix in ("", "against_"))
    if mine is None or theirs is None or not mine.size or not theirs.size:
        return None
    return mine.astype(np.float64), theirs.astype(np.float64)

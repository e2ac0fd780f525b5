"""Tail latencies: the ratio of two percentiles over all requests of all rounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.metrics import percentile_of
from autotune.gate.evidence import LEVEL, OfRatio, confirmed_without_any, loss_of
from autotune.measure import Measured
from autotune.measure.intervals import Interval
from autotune.measure.percentiles import least_samples

__all__ = ["Tail", "tail_of"]

Latencies = NDArray[np.float64]
Rounds = Sequence[Latencies]
Arrays = Mapping[str, NDArray[Any]]

_RESAMPLES = 200
_FOR_EVER = 1e3  # times as long: the ratio to a side whose percentile lies among dropped requests


@dataclass(frozen=True)
class Tail(OfRatio):
    """``attempts[k]`` holds both sides' latencies of one attempt: of each round, or each piece of a load, paired by their index.

    The interval is by bootstrap over pairs of rounds, for requests within one are not independent.
    """

    percentile: float
    attempts: tuple[tuple[Rounds, Rounds], ...]

    @cached_property
    def interval(self) -> Interval:
        """Of the loss."""
        pairs = _pairs(self.attempts)
        value = self._loss(pairs)
        if len(pairs) < 3:
            return Interval(value, None, None)
        draw = np.random.default_rng(0).integers(0, len(pairs), size=(_RESAMPLES, len(pairs)))
        losses = [self._loss([pairs[index] for index in row]) for row in draw]
        low, high = np.quantile(losses, [LEVEL, 1 - LEVEL])
        return Interval(value, float(low), float(high))

    def confirmed(self, bound: float) -> bool:
        """Whichever attempt is left out, the others' requests say so."""
        return confirmed_without_any(self.attempts, lambda rest: self._loss(_pairs(rest)) > bound)

    def _loss(self, pairs: Sequence[tuple[Latencies, Latencies]]) -> float:
        mine, theirs = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
        both = [float(np.quantile(one, self.percentile / 100, method="higher")) for one in (mine, theirs)]
        if not all(map(math.isfinite, both)):
            return 0.0 if both[0] == both[1] else loss_of(_FOR_EVER if both[0] > both[1] else 1 / _FOR_EVER, self.goal)
        return loss_of(both[0] / both[1], self.goal)


def _pairs(attempts: Sequence[tuple[Rounds, Rounds]]) -> list[tuple[Latencies, Latencies]]:
    return [pair for mine, theirs in attempts for pair in zip(mine, theirs, strict=True)]


def tail_of(measured: Sequence[Measured], metric: str) -> Tail | None:
    """The tail of these attempts' requests; None when they are too few for this percentile (see ``percentiles``), or ``metric``
    is no tail. ``latency`` is that of single requests and ``response`` that under load; without the former, the latter is called
    ``latency``.
    """
    percentile = percentile_of(metric)
    if percentile is None or percentile <= 50:
        return None
    attempts = tuple(pair for one in measured if (pair := _latencies(one.arrays, metric)) is not None)
    fewest = min((sum(len(part) for pair in attempts for part in pair[side]) for side in (0, 1)), default=0)
    return Tail("min", percentile, attempts) if attempts and fewest >= least_samples(percentile) else None


def _latencies(arrays: Arrays, metric: str) -> tuple[Rounds, Rounds] | None:
    single, loaded = _sides(arrays, _of_rounds), _sides(arrays, _under_load)
    if metric.startswith("latency"):
        return single or loaded
    return loaded if single else None


def _sides(arrays: Arrays, of: Callable[[Arrays, str], Rounds]) -> tuple[Rounds, Rounds] | None:
    mine, theirs = of(arrays, ""), of(arrays, "against_")
    return (mine, theirs) if mine and theirs else None


def _of_rounds(arrays: Arrays, prefix: str) -> Rounds:
    found = arrays.get(f"{prefix}single_stream_latency_s")
    return [] if found is None or not found.size else list(found.astype(np.float64))


def _under_load(arrays: Arrays, prefix: str) -> Rounds:
    """Of each piece of a load; requests that were dropped took for ever."""
    for scenario in ("server", "multi_stream"):
        found, counts = (arrays.get(f"{prefix}{scenario}_{what}") for what in ("request_latency_s", "piece_requests"))
        if found is not None and counts is not None:
            return np.split(found.astype(np.float64), np.cumsum(counts.astype(np.int64))[:-1])
    return []

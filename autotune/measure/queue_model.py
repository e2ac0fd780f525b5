"""A queue in front of a batcher, simulated from how long a batch of each size takes: a screen before the real load.

The same policy as ``autotune.serving.batcher``, in virtual time. What it does not know: instances that slow each other down, and
the batcher's own work. Its figures are estimates, and the real load decides.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from autotune.core.deployment import Batching

__all__ = ["Service", "capacity_per_s", "service_times", "simulate_queue"]

Series = NDArray[np.float64]
Service = Sequence[Series]
"""Seconds that a batch takes, some samples for each number of rows from 1 on."""


def service_times(measured: Mapping[int, Series], max_batch: int) -> Service:
    """Seconds for every number of rows up to ``max_batch``, from the measured ones: linear between neighbours.

    Between two measured sizes, the smaller one's samples are stretched to the interpolated median.
    """
    sizes = sorted(measured)
    medians = [float(np.median(measured[size])) for size in sizes]
    times = []
    for rows in range(1, max_batch + 1):
        below = max((size for size in sizes if size <= rows), default=sizes[0])
        wanted = float(np.interp(rows, sizes, medians))
        times.append(measured[below] * (wanted / float(np.median(measured[below]))))
    return times


def capacity_per_s(service: Service, instances: int) -> float:
    """Rows a second when every batch is as large as serves most."""
    return instances * max((rows + 1) / float(np.mean(times)) for rows, times in enumerate(service))


def simulate_queue(arrivals_s: Series, service: Service, policy: Batching, seed: int = 0) -> Series:
    """Seconds from arrival to answer of each request (one row each), shape ``[requests]``."""
    draws = np.random.default_rng(seed).random(len(arrivals_s))
    latency = np.empty_like(arrivals_s)
    idle_at = [0.0] * policy.instances
    head, count = 0, len(arrivals_s)
    while head < count:
        free = heapq.heappop(idle_at)
        full = arrivals_s[head + policy.max_batch - 1] if head + policy.max_batch <= count else np.inf
        leaves = max(free, min(arrivals_s[head] + policy.delay_s, full), arrivals_s[head])
        present = int(np.searchsorted(arrivals_s[head : head + policy.max_batch], leaves, side="right"))
        rows = max(present, 1)
        times = service[rows - 1]
        done = leaves + times[int(draws[head] * len(times))]
        latency[head : head + rows] = done - arrivals_s[head : head + rows]
        heapq.heappush(idle_at, done)
        head += rows
    return latency

"""Whether a server kept up with its load, and when it is certain that it does not."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from autotune.core.serving import Served

__all__ = ["kept_up", "longest_wait_s", "poisson"]

_BUSY = 0.97
_GROWTH = 1.5
_FEWEST = 40  # requests
_PATIENCE_S = 1.0
_PATIENCE = 20.0


def poisson(rate_per_s: float, duration_s: float, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Arrival times of a Poisson process, in seconds, one at least: the same ones for the same seed, thinned by ``rate_per_s``.

    Gaps are exponential, and the same draws serve every rate: two candidates meet the same bursts.
    """
    generator = np.random.default_rng(seed)
    expected = rate_per_s * duration_s
    gaps = generator.exponential(size=int(expected + 6 * expected**0.5) + 2)
    arrivals = np.cumsum(gaps) / rate_per_s
    return np.asarray(arrivals[: max(1, int(np.searchsorted(arrivals, duration_s)))])


def longest_wait_s(bound_s: float | None) -> float:
    """How long a request may wait before the queue is taken to grow without end: a second, or 20 times the limit."""
    return max(_PATIENCE_S, _PATIENCE * (bound_s or 0.0))


def kept_up(served: Served) -> bool:
    """Whether the queue did not grow: False when the load was given up as saturated, or requests were dropped, or the
    instances were busy nearly all the time while latencies rose from one quarter of the arrivals to the next.
    """
    if served.stopped == "saturated" or served.dropped:
        return False
    if len(served.latency_s) < _FEWEST or served.utilisation < _BUSY:
        return True
    quarters = [float(np.median(part)) for part in np.array_split(served.latency_s, 4)]
    rising = all(later > earlier for earlier, later in pairwise(quarters))
    return not (rising and quarters[-1] > _GROWTH * quarters[0])

"""A server whose queue is known: every service takes the same time, arrivals are Poisson's, and theory says the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.deployment import Batching
from autotune.core.serving import GiveUp, OpenLoop, Served
from autotune.measure.lifetime import sleep_exactly
from autotune.measure.load_generator import serve
from autotune.measure.queue_model import simulate_queue
from autotune.measure.queue_theory import md1_response_s
from autotune.measure.saturation import poisson

__all__ = ["PERCENTILES", "KnownQueue", "deterministic", "measure_known_queue"]

PERCENTILES = (50.0, 90.0, 99.0)
_SPIN_S = 0.0001
_CANDIDATES = 300
_ALONE = Batching(max_batch=1, delay_s=0.0)


@dataclass(frozen=True)
class KnownQueue:
    """A measured queue: ``off`` is how far each percentile is from theory (0.05: 5 %), at the service time that was measured."""

    served: Served
    service_s: float
    off: Mapping[float, float]


def deterministic(service_s: float) -> Callable[[Any], Any]:
    """A server that takes ``service_s``: it sleeps, and spins for the last tenth of a millisecond to end on time."""

    def run(inputs: Any) -> Any:
        end = perf_counter() + service_s
        sleep_exactly()
        sleep(max(0.0, service_s - _SPIN_S))
        while perf_counter() < end:
            pass
        return {"y": inputs["x"]}

    return run


def representative(rate: float, service_s: float, duration_s: float, seed: int) -> NDArray[np.float64]:
    """Of many Poisson schedules the one whose ideal queue is nearest to theory: what differs then is the batcher, not luck.

    (p99 of a few thousand correlated requests varies by a fifth from schedule to schedule.)
    """
    theory = np.asarray([md1_response_s(percentile, rate, service_s) for percentile in PERCENTILES])

    def distance(arrivals: NDArray[np.float64]) -> float:
        ideal = np.percentile(simulate_queue(arrivals, [np.asarray([service_s])], _ALONE), PERCENTILES)
        return float(np.max(np.abs(ideal / theory - 1)))

    schedules = [poisson(rate, duration_s, seed + number) for number in range(_CANDIDATES)]
    return min(schedules, key=distance)


def measure_known_queue(load: float, service_s: float, duration_s: float, seed: int) -> KnownQueue:
    """Put such a server under a ``load`` of its capacity, and compare."""
    rate = load / service_s
    arrivals = representative(rate, service_s, duration_s, seed)
    inputs = ({"x": np.zeros((1, 1), dtype=np.float32)},)
    served = serve([deterministic(service_s)], inputs, OpenLoop(arrivals, _ALONE, GiveUp(longest_wait_s=30.0)))
    found_s = served.busy_s / len(served.latency_s)
    off = {
        percentile: float(np.percentile(served.latency_s, percentile)) / md1_response_s(percentile, rate, found_s) - 1
        for percentile in PERCENTILES
    }
    return KnownQueue(served, found_s, off)

"""How many replicas a rate needs: the smallest number of which each holds every limit at its share of the rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from autotune.core.errors import MeasureError
from autotune.core.fleet import Fleet
from autotune.core.limits import Limit
from autotune.core.values import Value
from autotune.core.workload import Workload

__all__ = ["MOST_REPLICAS", "fleet_metrics", "sampled"]

MOST_REPLICAS = 4096
_FEWEST_REQUESTS, _MOST_REQUESTS = 500, 3000  # of one simulation
_LOAD_S = 120.0  # that a simulation lasts at least, where that is no more than the most requests
_QUIET_S = 60.0  # between requests that do not meet
_SAFE = 0.6  # of the number that an overrun replica's throughput asks for: fewer surely cannot do
_BACKLOG = 0.05  # of the time that requests arrive: who waits longer for a first token is behind a queue that grows

Metrics = Mapping[str, Value]
Simulation = Callable[[Workload], Metrics]

# what the whole fleet has of it, not each replica: to be multiplied
_SERVED = ("output_throughput", "request_rate", "goodput")
_OWNED = ("device_count", "power", "cost_per_month")
_PER_REQUEST = ("ttft_p", "tpot_p", "itl_p", "response_p", "latency_p")


def fleet_metrics(fleet: Fleet, workload: Workload, limits: Sequence[Limit], simulate: Simulation) -> dict[str, Value]:
    """The metrics of the smallest fleet that serves the rate within the limits, ``spare`` replicas included.

    Replicas get equal shares of the rate, so that more of them never hold less: the number is found by doubling and bisection.
    ``simulate`` gives one replica's metrics under a load. Where even requests that do not meet break a limit, no number helps:
    the least fleet that keeps up is returned, with the metrics that show it.
    Raises ``MeasureError`` when more than ``MOST_REPLICAS`` would be needed.
    """
    judged = [limit for limit in limits if limit.metric.startswith(_PER_REQUEST)]
    seen: dict[int, Metrics] = {}
    alone = simulate(sampled(workload, 1 / _QUIET_S))
    hopeless = any(_broken(limit, alone) for limit in judged)

    def holds(replicas: int) -> bool:
        rate_per_s = fleet.rate_per_s / replicas
        seen[replicas] = simulate(sampled(workload, rate_per_s))
        kept = hopeless or not any(_broken(limit, seen[replicas]) for limit in judged)
        return kept and _keeps_up(seen[replicas], rate_per_s)

    needed = _smallest(holds, _first_guess(fleet, workload, simulate))
    return _of_all(seen[needed], needed, fleet.spare)


def sampled(workload: Workload, rate_per_s: float) -> Workload:
    """The workload at that rate, for as many requests as tell its percentiles; one that says how long it lasts stays as it is."""
    at = workload.at_rate(rate_per_s)
    count = round(min(max(rate_per_s * _LOAD_S, _FEWEST_REQUESTS), _MOST_REQUESTS))
    phases = tuple(
        phase.model_copy(update={"tokens": phase.tokens.model_copy(update={"requests": count})})
        if phase.tokens is not None and phase.tokens.requests is None and phase.duration_s is None
        else phase
        for phase in at.phases
    )
    return at.model_copy(update={"phases": phases})


def _first_guess(fleet: Fleet, workload: Workload, simulate: Simulation) -> int:
    """Fewer than what the throughput of an overrun replica asks for."""
    flooded = simulate(sampled(workload, fleet.rate_per_s)).get("request_rate")
    most = flooded.value if flooded is not None and flooded.value else fleet.rate_per_s
    return min(max(1, math.floor(_SAFE * fleet.rate_per_s / most)), MOST_REPLICAS)


def _smallest(holds: Callable[[int], bool], guess: int) -> int:
    """The smallest number from ``guess`` on that holds. Raises ``MeasureError``."""
    failed, number = guess - 1, guess
    while not holds(number):
        if number >= MOST_REPLICAS:
            raise MeasureError("unsupported", f"not even {MOST_REPLICAS} replicas hold every limit at this rate")
        failed, number = number, min(number * 2, MOST_REPLICAS)
    while number - failed > 1:
        middle = (failed + number) // 2
        if holds(middle):
            number = middle
        else:
            failed = middle
    return number


def _keeps_up(metrics: Metrics, rate_per_s: float) -> bool:
    """Whether first tokens are not ever later: an overrun queue grows as long as requests arrive."""
    waited = metrics.get("ttft_p90")
    if waited is None or waited.value is None or not waited.n:
        return True
    return waited.interval()[1] <= _BACKLOG * waited.n / rate_per_s


def _broken(limit: Limit, metrics: Metrics) -> bool:
    """By the pessimistic end of the interval; an unknown value is judged elsewhere."""
    value = metrics.get(limit.metric)
    return value is not None and value.known and limit.standing(value) != "held"


def _of_all(metrics: Metrics, needed: int, spare: int) -> dict[str, Value]:
    """One replica's metrics as the fleet's: spare replicas cost, draw power, and do not serve."""
    every = needed + spare
    basis = f"{every} replicas" + (f", {spare} of them spare" if spare else "")
    factors = dict.fromkeys(_SERVED, float(needed)) | dict.fromkeys(_OWNED, float(every))
    factors |= dict.fromkeys(("cost_per_million_tokens", "energy_per_token"), every / needed)
    return {name: _times(value, factors[name], basis) if name in factors else value for name, value in metrics.items()}


def _times(value: Value, factor: float, basis: str) -> Value:
    if value.value is None:
        return value
    ends = {
        end: None if number is None else number * factor for end, number in (("low", value.low), ("high", value.high))
    }
    whole = f"{basis}; {value.basis}" if value.basis else basis
    return value.model_copy(update={"value": value.value * factor, "basis": whole, **ends})

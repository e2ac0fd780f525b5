"""The highest rate that holds the limits, by a sequential search over probes whose verdicts are noisy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autotune.core.limits import Limit
from autotune.core.metrics import percentile_of
from autotune.core.serving import Served
from autotune.measure.intervals import Interval
from autotune.measure.saturation import kept_up

__all__ = ["LatencyBound", "Verdict", "highest_rate", "judge_load", "latency_bounds", "leaning", "most_over"]

Verdict = Literal["held", "broken", "undecided"]
Probe: TypeAlias = Callable[[float], Verdict]

RESOLUTION = 0.05
_STEP = 1.3
_CERTAIN = 0.05  # each probe's chance of a wrong verdict
_CLUSTER = 4.0  # requests over a bound come in bursts: so many count as one
_MOST_PROBES = 24


@dataclass(frozen=True)
class LatencyBound:
    """``percentile`` (99.0) of all latencies is to be at most ``bound_s``."""

    percentile: float
    bound_s: float

    @property
    def allowed(self) -> float:
        """The share of requests that may take longer."""
        return 1 - self.percentile / 100


def latency_bounds(limits: tuple[Limit, ...]) -> tuple[LatencyBound, ...]:
    """Those of ``limits`` that a load can break: bounds on percentiles of latency or response time."""
    bounds = []
    for limit in limits:
        percentile = percentile_of(limit.metric)
        if percentile is not None and limit.sign == "<=" and limit.metric.startswith(("latency_p", "response_p")):
            bounds.append(LatencyBound(percentile, limit.bound))
    return tuple(bounds)


def most_over(requests: int, bound: LatencyBound) -> int:
    """How many of ``requests`` may be over the bound before the limit is certainly broken."""
    spread = math.sqrt(_CLUSTER * requests * bound.allowed * (1 - bound.allowed))
    return math.ceil(requests * bound.allowed + 3 * spread)


def judge_load(served: Served, bounds: tuple[LatencyBound, ...]) -> Verdict:
    """Whether a load held every bound and its server kept up, at 95 % each; ``undecided`` when too few requests tell."""
    if served.stopped is not None or not kept_up(served):
        return "broken"
    verdicts = {_judge(served, bound) for bound in bounds}
    order: tuple[Verdict, ...] = ("broken", "undecided")
    return next((verdict for verdict in order if verdict in verdicts), "held")


def leaning(latency_s: NDArray[np.float64], bounds: tuple[LatencyBound, ...]) -> Verdict:
    """What these latencies say without regard to certainty."""
    over = any(float(np.mean(latency_s > bound.bound_s)) > bound.allowed for bound in bounds)
    return "broken" if over else "held"


def _judge(served: Served, bound: LatencyBound) -> Verdict:
    """Exact binomial bounds (Clopper & Pearson 1934) on the share over the bound, for fewer requests: bursts count as one."""
    from scipy.special import betaincinv

    count = len(served.latency_s) / _CLUSTER
    over = int(np.sum(served.latency_s > bound.bound_s)) / _CLUSTER
    low = float(betaincinv(over, count - over + 1, _CERTAIN)) if over > 0 else 0.0
    high = float(betaincinv(over + 1, count - over, 1 - _CERTAIN)) if over < count else 1.0
    if low > bound.allowed:
        return "broken"
    return "held" if high <= bound.allowed else "undecided"


def highest_rate(probe: Probe, guess: float, out_of_time: Callable[[], bool] = lambda: False) -> Interval | None:
    """Return the highest rate that ``probe`` held, between it and the lowest that it did not; None: none was held.

    From ``guess`` in steps of 30 % until one rate is held and one is not, then bisection on a logarithmic scale until they are
    5 % apart. When the time runs out before a rate was held, the steps downward go on: at most 24 probes are made. ``high`` None:
    every rate tried was held.
    """
    held, broken, rate = 0.0, math.inf, guess
    for _ in range(_MOST_PROBES):
        if probe(rate) == "held":
            held = max(held, rate)
        else:
            broken = min(broken, rate)
        if held and (out_of_time() or broken <= held * (1 + RESOLUTION)):
            break
        rate = _next_rate(held, broken, out_of_time())
    return Interval(held, held, None if math.isinf(broken) else broken) if held else None


def _next_rate(held: float, broken: float, hurried: bool) -> float:
    if not held:
        return broken / (_STEP**3 if hurried else _STEP)
    return held * _STEP if math.isinf(broken) else math.sqrt(held * broken)

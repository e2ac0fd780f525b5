"""How long phases under load take: percentiles need their requests, and those arrive when they arrive."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.assignment import SearchContext
from autotune.core.workload import Phase
from autotune.measure.percentiles import least_samples

__all__ = ["TAIL", "load_s", "loads_s", "own_rate", "seek_s", "seeks_rate"]

TAIL = 99.0
_SEEK_SHARE = 3.0  # of a phase of the plan
_SEEK_FLOOR_S = 6.0
_SEEK_OF_LOAD = 1.5  # of the load at the phase's own rate: a slow model's probes need their requests too


def load_s(phase: Phase, phase_limit_s: float = 0.0) -> float:
    """Seconds that a server phase lasts at its rate.

    As it says, or as its trace does; else until p99 is supported, and no less than the plan's ``phase_limit_s``.
    """
    if phase.duration_s is not None:
        return phase.duration_s
    rate = phase.rate_per_s or own_rate(phase.arrivals_s)
    if phase.arrivals_s and rate:
        return len(phase.arrivals_s) / rate
    return max(phase_limit_s, 1.05 * least_samples(TAIL) / rate if rate else 0.0)


def seek_s(phase: Phase, phase_limit_s: float = 0.0) -> float:
    """Seconds that the search for the highest rate may take; its last probe may pass it."""
    return max(_SEEK_FLOOR_S, _SEEK_SHARE * phase_limit_s, _SEEK_OF_LOAD * load_s(phase, phase_limit_s))


def loads_s(context: SearchContext) -> float:
    """Seconds that each trial of a search spends under load at least, all phases together; 0 without any."""
    served = [phase for phase in context.workload.phases if phase.scenario == "server" and phase.tokens is None]
    return sum(load_s(phase) + (seek_s(phase) if seeks_rate(context) else 0.0) for phase in served)


def seeks_rate(context: SearchContext) -> bool:
    """Whether an objective or a limit asks for the highest rate."""
    asked = {objective.metric for objective in context.objectives} | {limit.metric for limit in context.limits}
    return "max_rate" in asked


def own_rate(arrivals_s: Sequence[float]) -> float | None:
    """Requests a second of a trace; None: there is none."""
    return (len(arrivals_s) - 1) / (arrivals_s[-1] - arrivals_s[0]) if len(arrivals_s) > 1 else None

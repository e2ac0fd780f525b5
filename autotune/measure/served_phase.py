"""One phase under load: the server at its rate, the highest rate that holds the limits, or streams in closed loops."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from autotune.core.clock import Clock
from autotune.core.deployment import Batching
from autotune.core.errors import MeasureError
from autotune.core.plan import Plan
from autotune.core.ports import ServingSession, Session
from autotune.core.samples import Requests
from autotune.core.serving import ClosedLoop, GiveUp, OpenLoop, Served
from autotune.measure.intervals import Interval
from autotune.measure.load_time import TAIL, load_s, own_rate, seek_s
from autotune.measure.loads import PhaseLoad
from autotune.measure.max_rate import (
    LatencyBound,
    Verdict,
    highest_rate,
    judge_load,
    latency_bounds,
    leaning,
    most_over,
)
from autotune.measure.percentiles import least_samples
from autotune.measure.queue_model import Service, capacity_per_s, service_times
from autotune.measure.saturation import longest_wait_s, poisson

__all__ = ["ServedPhase", "batched", "can_serve"]

_SEED = 20
_PROFILE_S = 0.15  # for each batch size
_PROFILE_SIZES = 5
_WARM_S = 0.3  # of load before the one that counts
_SHORTEST_PROBE_S = 0.4


def can_serve(session: Session, scenario: str) -> ServingSession:
    """The session as one that can be put under load. Raises ``MeasureError`` when its runtime cannot."""
    if not hasattr(session, "serve"):
        raise MeasureError("unsupported", f"{scenario}: this runtime's sessions cannot be put under load")
    return session  # type: ignore[return-value]


def batched(requests: Requests, rows: int) -> Requests:
    """Requests of ``rows`` samples, joined along the first axis from the single ones in turn."""
    if rows == 1:
        return requests
    turns = [requests.inputs[index % len(requests.inputs)] for index in range(rows)]
    joined = {name: np.concatenate([one[name] for one in turns], axis=0) for name in turns[0]}
    return Requests(key=f"{requests.key}-joined{rows}", inputs=(joined,), items=rows)


@dataclass
class ServedPhase:
    """A phase whose requests meet a queue. ``served`` is the load at the phase's rate, ``fastest`` the highest rate that held
    the limits; None: not measured (yet), or no rate held them. ``profile``: seconds a batch by its rows, on one instance.
    ``pieces``: the requests of each part that ``served`` was joined from; empty: it was one load.
    """

    session: ServingSession
    load: PhaseLoad
    plan: Plan
    clock: Clock
    profile: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    served: Served | None = None
    fastest: Interval | None = None
    probes: list[tuple[float, str]] = field(default_factory=list)
    pieces: tuple[int, ...] = ()

    @property
    def policy(self) -> Batching:
        """The candidate's batch policy; without one, requests run one by one."""
        return self.load.batching or Batching(max_batch=1, delay_s=0.0)

    @property
    def rate(self) -> float | None:
        """Requests a second: the phase's, else its trace's own; None: only the highest rate is looked for."""
        return self.load.phase.rate_per_s or own_rate(self.load.phase.arrivals_s)

    @property
    def service(self) -> Service:
        """Seconds a batch takes, for every number of rows, from the profile."""
        return service_times(self.profile, self.policy.max_batch)

    def take_profile(self) -> None:
        """Warm up, and time batches of a few sizes on one instance: what the queue is simulated from."""
        most = self.policy.max_batch
        steps = np.geomspace(1, most, min(_PROFILE_SIZES, most)) if most > 1 else np.asarray([1.0])
        for rows in dict.fromkeys(round(step) for step in steps):
            requests = batched(self.load.requests, rows)
            first = self.session.run(requests, 1).wall_s
            self.session.run(requests, max(1, min(3, math.ceil(_PROFILE_S / max(first, 1e-9)))))
            count = int(np.clip(math.ceil(_PROFILE_S / max(first, 1e-6)), 3, 200))
            self.profile[rows] = self.session.run(requests, count).latency_s

    def measure(self) -> None:
        """Put the session under the phase's load, then, where it is wanted, look for the highest rate."""
        if self.load.phase.scenario == "multi_stream":
            self.served = self._streams(self.load.phase.duration_s or 2 * self.plan.phase_limit_s)
            return
        if not self.profile:
            self.take_profile()
        rate = self.rate
        if rate:
            self._serve(min(rate, self.guess()), _WARM_S, _SEED + 1)
            self.served = self._serve(rate, load_s(self.load.phase, self.plan.phase_limit_s), _SEED)
        if self.load.seek_rate:
            self.fastest = self._seek()

    def prepare(self) -> None:
        """What comes before pieces of a load: the profile, where requests arrive by themselves."""
        if self.load.phase.scenario != "multi_stream":
            self.take_profile()

    def piece(self, number: int, length_s: float, rate: float | None) -> Served:
        """Part ``number`` of the phase's load, after a short one that does not count: the same arrivals for every session.

        ``rate`` None: a closed loop has none.
        """
        if rate is None:
            return self._streams(length_s)
        self._serve(min(rate, self.guess()), min(_WARM_S, length_s / 4), _SEED + 1)
        return self._serve(rate, length_s, _SEED + 1000 + number, offset_s=number * length_s)

    def seek(self) -> None:
        """Look for the highest rate."""
        if not self.profile:
            self.take_profile()
        self.fastest = self._seek()

    def _streams(self, duration_s: float) -> Served:
        streams = self.load.phase.streams or 1
        self.session.serve(self.load.requests, ClosedLoop(streams, min(_WARM_S, duration_s / 4), self.policy))
        return self.session.serve(self.load.requests, ClosedLoop(streams, duration_s, self.policy))

    def _serve(
        self, rate: float, duration_s: float, seed: int, give_up: GiveUp | None = None, offset_s: float = 0.0
    ) -> Served:
        """Offer Poisson arrivals, or the phase's trace where it has one, from ``offset_s`` on."""
        arrivals = self._trace(rate, duration_s, offset_s)
        if arrivals is None:
            arrivals = poisson(rate, duration_s, seed)
        give_up = give_up or GiveUp(longest_wait_s(self._slowest_bound_s()))
        levels, limit = self._levels(len(arrivals)), self.load.phase.queue_limit
        return self.session.serve(self.load.requests, OpenLoop(arrivals, self.policy, give_up, levels, limit))

    def _trace(self, rate: float, duration_s: float, offset_s: float = 0.0) -> NDArray[np.float64] | None:
        """The trace's arrivals at ``rate``, closer together or farther apart; None: the phase has no trace.

        Those of ``duration_s`` from ``offset_s`` on; past its end the trace begins again.
        """
        trace = np.asarray(self.load.phase.arrivals_s)
        own = own_rate(self.load.phase.arrivals_s)
        if own is None:
            return None
        scaled = (trace - trace[0]) * (own / rate)
        first = int(np.searchsorted(scaled, offset_s % (scaled[-1] + 1 / rate)))
        rest = scaled[first:] - (scaled[first] if first else 0.0)
        return np.asarray(rest[: max(1, int(np.searchsorted(rest, duration_s)))])

    def _levels(self, count: int) -> NDArray[np.int64] | None:
        """The priority level of each request: drawn by the phase's shares, the same for every candidate."""
        shares = self.load.phase.priorities
        if len(shares) < 2:
            return None
        weights = np.asarray(shares) / sum(shares)
        return np.random.default_rng(_SEED).choice(len(shares), size=count, p=weights).astype(np.int64)

    def guess(self) -> float:
        """A rate that it can bear, by its profile."""
        return 0.7 * capacity_per_s(self.service, self.policy.instances)

    def _slowest_bound_s(self) -> float | None:
        return max((bound.bound_s for bound in latency_bounds(self.load.limits)), default=None)

    def _seek(self) -> Interval | None:
        allowed = seek_s(self.load.phase, self.plan.phase_limit_s)
        ends = self.clock.now_s() + allowed
        return highest_rate(
            lambda rate: self._probe(rate, allowed / 3), self.guess(), lambda: self.clock.now_s() >= ends
        )

    def _probe(self, rate: float, longest_s: float) -> Verdict:
        """Offer ``rate`` for as long as its percentile needs; what is undecided then is looked at once more."""
        bounds = latency_bounds(self.load.limits)
        needed = max((least_samples(bound.percentile) for bound in bounds), default=least_samples(TAIL))
        duration_s = min(max(_SHORTEST_PROBE_S, 1.05 * needed / rate), longest_s)
        served = self._offered(rate, duration_s, bounds, 0)
        verdict = judge_load(served, bounds)
        if verdict == "undecided":
            verdict = _leaning([served, self._offered(rate, duration_s, bounds, 1)], bounds)
        self.probes.append((rate, verdict))
        return verdict

    def _offered(self, rate: float, duration_s: float, bounds: tuple[LatencyBound, ...], turn: int) -> Served:
        tightest = min(bounds, key=lambda bound: bound.bound_s, default=None)
        give_up = GiveUp(longest_wait_s(self._slowest_bound_s()))
        if tightest is not None:
            most = most_over(math.ceil(rate * duration_s), tightest)
            give_up = replace(give_up, bound_s=tightest.bound_s, most_over=most)
        return self._serve(rate, duration_s, _SEED + 2 + 100 * turn, give_up)


def _leaning(loads: list[Served], bounds: tuple[LatencyBound, ...]) -> Verdict:
    """What two loads say together."""
    if any(judge_load(served, bounds) == "broken" for served in loads):
        return "broken"
    return leaning(np.concatenate([served.latency_s for served in loads]), bounds)

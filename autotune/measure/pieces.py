"""A load in pieces that alternate between two sessions: what is common to neighbouring pieces cancels in their ratio.

Both sides of a pair meet the very same arrivals, so that a burst is no difference between them either. Each piece begins with an
empty queue, and after requests that do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from autotune.core.ports import Session
from autotune.core.power import PowerModel
from autotune.core.serving import Served
from autotune.measure.energy import Use, energy_j
from autotune.measure.intervals import median_interval
from autotune.measure.load_time import TAIL
from autotune.measure.max_rate import latency_bounds
from autotune.measure.pausing import all_paused
from autotune.measure.percentiles import least_samples
from autotune.measure.served_phase import ServedPhase

__all__ = ["PiecedLoad", "joined", "piece_count"]

Series = NDArray[np.float64]
Result = TypeVar("Result")

_REQUESTS = 20  # of a piece, at least, on average
_FEWEST, _MOST = 4, 60  # pieces of each side
_LOOK_FROM = 8  # pairs, to end early
_BALANCED = 2
_FARTHEST = 1e3  # a ratio beyond it, or of what has none, counts as so much


@dataclass
class PiecedLoad:
    """One phase of two sessions; ``mine`` and ``theirs`` get their joined load. ``pairs``: both sides' pieces."""

    mine: ServedPhase
    theirs: ServedPhase
    sessions: tuple[Session, Session]
    pairs: list[tuple[Served, Served]] = field(default_factory=list)

    def measure(self, piece_s: float) -> None:
        """Take pairs of pieces in the order ABBA until their ratio is narrow enough, or the plan's limit is used up."""
        plan, phases = self.mine.plan, (self.mine, self.theirs)
        with all_paused(self.sessions):
            for phase, session in zip(phases, self.sessions, strict=True):
                _awake(session, phase.prepare)
            rate = self._rate()
            count, length_s = piece_count(plan.phase_limit_s, piece_s, rate)
            for number in range(count):
                self._take(number, length_s, rate)
                if number + 1 >= _LOOK_FROM and self._enough(plan.precision):
                    break
        for phase, side in zip(phases, zip(*self.pairs, strict=True), strict=True):
            phase.served, phase.pieces = joined(side), tuple(len(piece.latency_s) for piece in side)

    def series(self, names: Sequence[str], model: PowerModel | None, cpus: int) -> dict[str, Series]:
        """Ratios this side / the other, pair by pair: medians, requests answered a second, those in time, energy.

        ``names``: what the median is called (``latency``, ``response``).
        """
        slower = self._ratios(lambda served: float(np.median(served.latency_s)))
        found = {f"{name}_p50": slower for name in names} | {"request_rate": self._ratios(_rate)}
        if bounds := latency_bounds(self.mine.load.limits):
            tightest = min(bound.bound_s for bound in bounds)
            found["goodput"] = self._ratios(lambda served: float(np.sum(served.latency_s <= tightest)) / served.wall_s)
        if model is not None and all(one.cpu_s is not None for pair in self.pairs for one in pair):
            found["energy"] = self._ratios(lambda served: _energy_j(model, served, cpus))
        return found

    def _rate(self) -> float | None:
        """The same for both sides: the phase's own, else one that the other side can bear; None: closed loops have none."""
        if self.mine.load.phase.scenario == "multi_stream":
            return None
        return self.mine.rate or self.theirs.guess()

    def _take(self, number: int, length_s: float, rate: float | None) -> None:
        def piece(phase: ServedPhase, session: Session) -> Served:
            return _awake(session, lambda: phase.piece(number, length_s, rate))

        if number % 2 == 0:
            mine = piece(self.mine, self.sessions[0])
            theirs = piece(self.theirs, self.sessions[1])
        else:
            theirs = piece(self.theirs, self.sessions[1])
            mine = piece(self.mine, self.sessions[0])
        self.pairs.append((mine, theirs))

    def _enough(self, precision: float) -> bool:
        """Whether the ratio is known well enough, and there are requests enough for the tail."""
        requests = min(sum(len(pair[side].latency_s) for pair in self.pairs) for side in (0, 1))
        return requests >= least_samples(TAIL) and self._half_width() <= precision

    def _half_width(self) -> float:
        return median_interval(self.series(("latency",), None, 1)["latency_p50"], block=_BALANCED).half_width

    def _ratios(self, of: Callable[[Served], float]) -> Series:
        sides = np.asarray([[of(mine), of(theirs)] for mine, theirs in self.pairs])
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = sides[:, 0] / sides[:, 1]
        known = np.nan_to_num(ratios, nan=1.0, posinf=_FARTHEST)
        return np.asarray(np.clip(known, 1 / _FARTHEST, _FARTHEST))


def piece_count(limit_s: float, piece_s: float, rate: float | None) -> tuple[int, float]:
    """How many pieces of each side fit into ``limit_s``, and the seconds of each: more than ``piece_s`` for rare requests."""
    wanted = max(piece_s, _REQUESTS / rate if rate else 0.0)
    count = int(np.clip(limit_s // wanted, _FEWEST, _MOST))
    return count, min(wanted, limit_s / count)


def joined(pieces: Sequence[Served]) -> Served:
    """The pieces as one load, one after another."""
    starts = np.cumsum([0.0, *(piece.wall_s for piece in pieces[:-1])])
    cpu = [piece.cpu_s for piece in pieces if piece.cpu_s is not None]
    memory = [piece.memory_bytes for piece in pieces if piece.memory_bytes is not None]
    return Served(
        arrivals_s=np.concatenate([piece.arrivals_s + start for piece, start in zip(pieces, starts, strict=True)]),
        latency_s=np.concatenate([piece.latency_s for piece in pieces]),
        lag_s=np.concatenate([piece.lag_s for piece in pieces]),
        batch_rows=np.concatenate([piece.batch_rows for piece in pieces]),
        busy_s=sum(piece.busy_s for piece in pieces),
        wall_s=sum(piece.wall_s for piece in pieces),
        instances=pieces[0].instances,
        dropped=sum(piece.dropped for piece in pieces),
        unanswered=sum(piece.unanswered for piece in pieces),
        stopped=next((piece.stopped for piece in pieces if piece.stopped is not None), None),
        cpu_s=sum(cpu) if len(cpu) == len(pieces) else None,
        memory_bytes=max(memory, default=None),
    )


def _rate(served: Served) -> float:
    return (len(served.latency_s) - served.dropped - served.unanswered) / served.wall_s


def _energy_j(model: PowerModel, served: Served, cpus: int) -> float:
    """Of one request, the time between requests included."""
    count = max(1, len(served.latency_s))
    use = Use(np.asarray([served.wall_s / count]), np.asarray([(served.cpu_s or 0.0) / count]), cpus)
    return float(energy_j(model, use)[0])


def _awake(session: Session, act: Callable[[], Result]) -> Result:
    session.resume()
    try:
        return act()
    finally:
        session.pause()

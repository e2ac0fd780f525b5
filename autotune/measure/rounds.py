"""Takes rounds of one phase of one session: warm-up, size, and what becomes of disturbed ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from autotune.core.clock import Clock
from autotune.core.plan import Plan
from autotune.core.ports import Session
from autotune.core.samples import Samples
from autotune.measure.counters import EnergyCounter
from autotune.measure.disturbance import Watch
from autotune.measure.intervals import MIN_ROUNDS
from autotune.measure.loads import PhaseLoad
from autotune.measure.shapes import by_shape, median_latency
from autotune.measure.steady import WINDOW, drifts, is_steady, steady_enough

__all__ = ["Rounds", "Series"]

Series = NDArray[np.float64]

_SHORTEST_ROUND_S = 0.01
_MOST_REQUESTS = 2000
_WARM_PORTION_S = 0.01
_REWARM_SHARE = 0.2
_SCREEN_SHARE = 0.2  # of a round: what one of a screen lasts
_CLOCK_STEP_S = 1e-9


@dataclass
class Rounds:
    """The rounds of one phase. ``log`` holds all of them in time order, each with whether it was disturbed.

    ``count`` requests make a round, ``fewest`` the shortest possible one; both are known after ``warm_up``. ``counter`` None:
    energy is not counted.
    ``tolerant``: disturbed rounds count too, because there were too few others; ``reasons`` are what disturbed, in words.
    """

    session: Session
    load: PhaseLoad
    plan: Plan
    clock: Clock
    watch: Watch
    counter: EnergyCounter | None = None
    count: int = 1
    fewest: int = 1
    steady: bool = False
    log: list[tuple[Samples, bool]] = field(default_factory=list)
    tolerant: bool = False
    reasons: set[str] = field(default_factory=set)

    def warm_up(self) -> None:
        """Run until steady, or until the plan's limit; then size the rounds."""
        ends = self.clock.now_s() + self.plan.warmup_limit_s
        medians: list[float] = []
        walls: list[float] = []
        count = self.load.requests.cycle
        while not is_steady(np.asarray(medians)):
            portion = self.session.run(self.load.requests, count)
            medians.append(max(median_latency(self.load.requests, portion.latency_s), _CLOCK_STEP_S))
            walls.append(portion.wall_s / count)
            count = self._whole(int(np.clip(math.ceil(_WARM_PORTION_S / medians[-1]), 1, _MOST_REQUESTS)))
            if self.clock.now_s() >= ends:
                break
        self.steady = steady_enough(np.asarray(medians))
        latency_s = min(medians[-WINDOW:])
        self.fewest = self._whole(max(1, math.ceil(self._shortest_round_s() / latency_s)))
        self.count = self._round_size(latency_s, float(np.median(walls[-WINDOW:])))

    def shorter(self) -> Rounds:
        """Rounds of a fifth of the size, or of the shortest possible one, none taken yet."""
        count = max(self.fewest, self._whole(math.ceil(self.count * _SCREEN_SHARE)))
        return replace(self, count=count, log=[], tolerant=False, reasons=set())

    def warm_again(self) -> None:
        """A few runs after an idle gap: the first ones after it are slow."""
        self.session.run(self.load.requests, self._rewarm_count())

    def take(self) -> None:
        """Run one round. It does not count when it was disturbed, as long as undisturbed ones may be had."""
        samples, reasons = self.attempt()
        self.note(samples, bool(reasons))

    def attempt(self) -> tuple[Samples, tuple[str, ...]]:
        """Run one round; return it with what disturbed it."""
        self.watch.start()
        samples = self._run()
        reasons = self.watch.stop(samples)
        self.reasons.update(reasons)
        return samples, reasons

    def note(self, samples: Samples, disturbed: bool) -> None:
        """Enter a round."""
        self.log.append((samples, disturbed))

    def out_of_time(self, limit_s: float) -> bool:
        """Whether to stop at this moment. An interval needs three rounds: for them the limit may pass by as much again."""
        late = self.clock.now_s() - limit_s
        return bool(self.log) and late >= 0 and (len(self.log) >= MIN_ROUNDS or late >= self.plan.phase_limit_s)

    def settle(self) -> None:
        """No more rounds will come: let disturbed ones count when there are too few others."""
        self.tolerant = self.tolerant or len(self.taken) < self.plan.min_rounds

    @property
    def taken(self) -> list[Samples]:
        """The rounds that count, in time order."""
        return [samples for samples, disturbed in self.log if self.tolerant or not disturbed]

    @property
    def disturbed(self) -> int:
        """Disturbed rounds, whether others were taken in their place or they had to count."""
        return sum(disturbed for _, disturbed in self.log)

    def latencies(self) -> Series:
        """The median seconds per request of each round."""
        return np.asarray([median_latency(self.load.requests, samples.latency_s) for samples in self.taken])

    def undisturbed_latencies(self) -> Series:
        """The lower quartile of the seconds per request of each round: what others do can only add to a request's time.

        Of a mixture of shapes, the mean of each shape's.
        """
        mixed = by_shape(self.load.requests, self.taken)
        if mixed:
            quartiles = [[np.quantile(round_s, 0.25) * len(round_s) for round_s in rounds] for rounds in mixed.values()]
            counts = np.asarray([len(samples.latency_s) for samples in self.taken])
            return np.asarray(np.sum(quartiles, axis=0) / counts)
        return np.asarray([np.quantile(samples.latency_s, 0.25) for samples in self.taken])

    def item_rates(self) -> Series:
        """Items per second of each round."""
        return np.asarray([len(samples.latency_s) * samples.items / samples.wall_s for samples in self.taken])

    def moved(self) -> bool:
        """Whether the rounds drifted while they were taken."""
        return drifts(self.latencies())

    def _run(self) -> Samples:
        if self.counter is None:
            return self.session.run(self.load.requests, self.count)
        return self.counter.window(lambda: self.session.run(self.load.requests, self.count), self.clock)

    def _round_size(self, latency_s: float, wall_s: float) -> int:
        """Requests a round: ``latency_s`` each undisturbed, ``wall_s`` each as it was, for the least rounds must fit in."""
        wanted = min(self.plan.round_s / latency_s, _MOST_REQUESTS)
        fitting = self.plan.phase_limit_s / self.plan.min_rounds / max(wall_s, _CLOCK_STEP_S)
        return self._whole(max(self.fewest, math.ceil(min(wanted, fitting))))

    def _whole(self, count: int) -> int:
        """``count`` requests, or so many more that every shape of the load has its share of them."""
        cycle = self.load.requests.cycle
        return math.ceil(count / cycle) * cycle

    def _shortest_round_s(self) -> float:
        """A counter's shortest window and half as much again: one round that came out too short would leave energy unknown."""
        return (
            _SHORTEST_ROUND_S if self.counter is None else max(_SHORTEST_ROUND_S, 1.5 * self.counter.shortest_window_s)
        )

    def _rewarm_count(self) -> int:
        return max(1, min(3, self.count), math.ceil(self.count * _REWARM_SHARE))

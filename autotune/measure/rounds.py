"""Takes rounds of one phase of one session: warm-up, size, and the repetition of disturbed ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from autotune.core.clock import Clock
from autotune.core.plan import Plan
from autotune.core.ports import Session
from autotune.core.samples import Samples
from autotune.measure.counters import EnergyCounter
from autotune.measure.disturbance import Watch
from autotune.measure.loads import PhaseLoad
from autotune.measure.steady import drifts, is_steady, steady_enough

__all__ = ["Rounds", "Series"]

Series = NDArray[np.float64]

_SHORTEST_ROUND_S = 0.01
_MOST_REQUESTS = 2000
_WARM_PORTION_S = 0.01
_REWARM_SHARE = 0.2
_CLOCK_STEP_S = 1e-9


@dataclass
class Rounds:
    """The rounds of one phase. ``taken`` are those that count, in time order; ``set_aside`` were disturbed and taken again.

    ``count`` requests make a round, known after ``warm_up``. ``counter`` None: energy is not counted.
    ``kept_disturbed`` rounds count although they were disturbed; ``reasons`` are what disturbed rounds, in words.
    """

    session: Session
    load: PhaseLoad
    plan: Plan
    clock: Clock
    watch: Watch
    counter: EnergyCounter | None = None
    count: int = 1
    steady: bool = False
    taken: list[Samples] = field(default_factory=list)
    set_aside: list[Samples] = field(default_factory=list)
    kept_disturbed: int = 0
    reasons: set[str] = field(default_factory=set)

    def warm_up(self) -> None:
        """Run until steady, or until the plan's limit; then size the rounds."""
        ends = self.clock.now_s() + self.plan.warmup_limit_s
        portions: list[float] = []
        count = 1
        while not is_steady(np.asarray(portions)):
            portions.append(self._median(count))
            count = self._portion(portions[-1])
            if self.clock.now_s() >= ends:
                break
        self.steady = steady_enough(np.asarray(portions))
        self.count = self._round_size(float(np.median(portions[-3:])))

    def warm_again(self) -> None:
        """A few runs after an idle gap: the first ones after it are slow."""
        self.session.run(self.load.requests, self._rewarm_count())

    def take(self) -> Samples:
        """Take one round that counts, again for as long as it is disturbed and repeats are left."""
        while True:
            samples, reasons = self.try_round()
            if not reasons or not self.may_repeat():
                return self.keep(samples, bool(reasons))
            self.set_aside.append(samples)

    def try_round(self) -> tuple[Samples, tuple[str, ...]]:
        """Run one round; return it with what disturbed it."""
        self.watch.start()
        samples = self._run()
        reasons = self.watch.stop(samples)
        self.reasons.update(reasons)
        return samples, reasons

    def keep(self, samples: Samples, disturbed: bool) -> Samples:
        """Let a round count, disturbed or not."""
        self.taken.append(samples)
        self.kept_disturbed += disturbed
        return samples

    def may_repeat(self) -> bool:
        """Whether a disturbed round may be taken again: at most as many as the plan's least number of rounds."""
        return len(self.set_aside) < self.plan.min_rounds

    @property
    def disturbed(self) -> int:
        """Rounds that were taken again, or could not be."""
        return len(self.set_aside) + self.kept_disturbed

    def latencies(self) -> Series:
        """The median seconds per request of each round."""
        return np.asarray([np.median(samples.latency_s) for samples in self.taken])

    def item_rates(self) -> Series:
        """Items per second of each round."""
        return np.asarray([len(samples.latency_s) * samples.items / samples.wall_s for samples in self.taken])

    def moved(self) -> bool:
        """Whether the rounds drifted while they were taken."""
        return drifts(self.latencies()) if self.taken else False

    def _run(self) -> Samples:
        if self.counter is None:
            return self.session.run(self.load.requests, self.count)
        return self.counter.window(lambda: self.session.run(self.load.requests, self.count), self.clock)

    def _median(self, count: int) -> float:
        latency = float(np.median(self.session.run(self.load.requests, count).latency_s))
        return max(latency, _CLOCK_STEP_S)

    def _portion(self, latency_s: float) -> int:
        return int(np.clip(math.ceil(_WARM_PORTION_S / latency_s), 1, _MOST_REQUESTS))

    def _round_size(self, latency_s: float) -> int:
        wanted = max(self.plan.round_s, _SHORTEST_ROUND_S) / latency_s
        least = math.ceil(_SHORTEST_ROUND_S / latency_s)
        return max(1, least, min(math.ceil(wanted), _MOST_REQUESTS))

    def _rewarm_count(self) -> int:
        return max(1, min(3, self.count), math.ceil(self.count * _REWARM_SHARE))

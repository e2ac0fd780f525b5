"""Pairs: two sessions, one paused, rounds alternating ABBA, compared pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autotune.core.plan import PAIRED_SIDES
from autotune.core.power import PowerModel
from autotune.core.values import Value
from autotune.measure.energy import energy_j, energy_ratio_bounds
from autotune.measure.intervals import Interval, median_interval
from autotune.measure.pausing import all_paused
from autotune.measure.round_statistic import BY_MEDIAN, BY_QUARTILE
from autotune.measure.rounds import Rounds, Series
from autotune.measure.shapes import by_shape
from autotune.measure.steady import drifts
from autotune.measure.stopping import ALPHA, Looks
from autotune.measure.summaries import item_use, memory_value, phase_series

__all__ = ["PairedPhase"]

_MUCH_LONGER = 2
_BALANCED = 2  # two neighbouring pairs, one in each order, are resampled together


@dataclass
class PairedPhase:
    """One phase of both sessions; the i-th pair's rounds are at index i of both logs.

    Rounds alternate ABBA, so that a linear drift favours each side in turn, and a round is compared with its neighbour, so
    that what is common to both cancels: a machine that jumps between two speeds shifts the ratio of the two medians, but
    hardly the median of the ratios. Between phases both sessions are awake.
    ``alpha``: the level that the final interval may be taken at. ``finished`` False: time ran out before it was narrow.
    """

    mine: Rounds
    theirs: Rounds
    alpha: float = ALPHA
    finished: bool = False

    def measure(self) -> None:
        """Take pairs until the ratio's interval is narrow enough, or the plan's rounds or time are used up."""
        with all_paused((self.mine.session, self.theirs.session)):
            awake = self._warm_up()
            looks = Looks(self.mine.plan)
            self.finished = self._take_pairs(awake, looks)
        for side in (self.mine, self.theirs):
            side.settle()
        if not self.finished:
            looks.take_last()
        self.alpha = looks.level

    def ratios(self, model: PowerModel | None, cpus: int) -> dict[str, Value]:
        """This side / the other: the phase's own metric, energy where it is known, and peak memory."""
        whole = _ratio_value(self._interval(self.alpha), len(self.mine.taken), self._basis)
        values = {self._metric: whole.model_copy(update={"parts": self._shape_ratios()})}
        return values | self._energy_ratio(model, cpus) | self._memory_ratio()

    def otherwise(self) -> dict[str, Value]:
        """The phase's own ratio by the statistic of a round that ``ratios`` does not use."""
        quartile = not self.mine.tolerant
        interval = median_interval(self._series(quartile=quartile), self.alpha, block=_BALANCED)
        return {self._metric: _ratio_value(interval, len(self.mine.taken), BY_QUARTILE if quartile else BY_MEDIAN)}

    def series(self, model: PowerModel | None, cpus: int) -> dict[str, NDArray[np.float64]]:
        """The same ratios pair by pair, in time order; peak memory has one alone, and is left out."""
        energy = self._energy_series(model, cpus)
        return {self._metric: self._series()} | ({} if energy is None else {"energy": energy})

    @property
    def steady(self) -> bool:
        """Whether both sides became steady, and their ratio stayed so: what moves both alike does no harm."""
        return self.mine.steady and self.theirs.steady and not drifts(self._series())

    @property
    def longer(self) -> tuple[str, ...]:
        """The phase's metrics, if this side's requests last more than twice as long as the other's.

        A neighbour that has the CPU in turn then meets each of them, and leaves most of the other's alone.
        """
        mine, theirs = (float(np.median(side.latencies())) for side in (self.mine, self.theirs))
        return (self._metric, "energy") if mine > _MUCH_LONGER * theirs else ()

    @property
    def _metric(self) -> str:
        return phase_series(self.mine)[0]

    @property
    def _basis(self) -> str:
        return BY_QUARTILE if self.mine.tolerant else BY_MEDIAN

    def _series(self, *, quartile: bool | None = None) -> NDArray[np.float64]:
        """This side / the other, pair by pair. ``quartile`` None: by what the machine's state asks for.

        While the machine is disturbed (see ``Rounds.tolerant``), rounds are compared by the lower quartile of their requests'
        times, for others can only add to a request's time. Of A/A pairs on two CPUs with a load of 4 to 9, the ratio's error
        was 0.013 so, and 0.079 by the rounds' medians (root mean square of eight).
        """
        if not (self.mine.tolerant if quartile is None else quartile):
            return phase_series(self.mine)[1] / phase_series(self.theirs)[1]
        slower = self.mine.undisturbed_latencies() / self.theirs.undisturbed_latencies()
        if self._metric != "throughput":
            return slower
        return self.mine.load.requests.items / self.theirs.load.requests.items / slower

    def _shape_ratios(self) -> dict[str, Value]:
        """The ratio of each shape of a mixture, pair by pair."""
        mine, theirs = (by_shape(side.load.requests, side.taken) for side in (self.mine, self.theirs))
        return {label: self._shape_ratio(mine[label], theirs[label]) for label in mine if label in theirs}

    def _shape_ratio(self, mine: Sequence[Series], theirs: Sequence[Series]) -> Value:
        share = 0.25 if self.mine.tolerant else 0.5
        ones, others = (np.asarray([np.quantile(one, share) for one in side]) for side in (mine, theirs))
        slower = ones / others
        series = slower
        if self._metric == "throughput":
            series = self.mine.load.requests.items / self.theirs.load.requests.items / slower
        return _ratio_value(median_interval(series, self.alpha, block=_BALANCED), len(series), self._basis)

    def _interval(self, alpha: float) -> Interval:
        return median_interval(self._series(), alpha, block=_BALANCED)

    def _warm_up(self) -> Rounds:
        """Warm up each side while the other is paused; return the one left awake."""
        for side in (self.theirs, self.mine):
            side.session.resume()
            side.warm_up()
            if side is self.theirs:
                side.session.pause()
        return self.mine

    def _take_pairs(self, awake: Rounds, looks: Looks) -> bool:
        """Take pairs until the ratio is precise or the rounds are used up; return False when time runs out."""
        plan, clock = self.mine.plan, self.mine.clock
        limit = clock.now_s() + PAIRED_SIDES * plan.phase_limit_s
        while len(self.mine.taken) < plan.max_rounds:
            if self.mine.out_of_time(limit):
                return False
            awake = self._take_pair(awake)
            count = len(self.mine.taken)
            if looks.due(count):
                looks.take(count)
                if self._interval(looks.level).half_width <= plan.precision:
                    return True
        return True

    def _take_pair(self, awake: Rounds) -> Rounds:
        """Take one pair, beginning with the side that is awake; return the one awake at its end.

        When either of its rounds was disturbed, the pair is.
        """
        first, second = awake, self.theirs if awake is self.mine else self.mine
        one, one_reasons = first.attempt()
        first.session.pause()
        second.session.resume()
        second.warm_again()
        two, two_reasons = second.attempt()
        disturbed = bool(one_reasons or two_reasons)
        first.note(one, disturbed)
        second.note(two, disturbed)
        return second

    def _energy_series(self, model: PowerModel | None, cpus: int) -> NDArray[np.float64] | None:
        """From a counter where every round has it, else by the model's typical figures; None: energy is unknown."""
        counted = [_counted_energy(side) for side in (self.mine, self.theirs)]
        if counted[0] is not None and counted[1] is not None:
            return np.asarray(counted[0] / counted[1])
        mine, theirs = item_use(self.mine, cpus), item_use(self.theirs, cpus)
        if model is None or mine is None or theirs is None:
            return None
        return np.asarray(energy_j(model, mine) / energy_j(model, theirs))

    def _energy_ratio(self, model: PowerModel | None, cpus: int) -> dict[str, Value]:
        series = self._energy_series(model, cpus)
        if series is None:
            return {}
        interval = median_interval(series, self.alpha, block=_BALANCED)
        mine, theirs = item_use(self.mine, cpus), item_use(self.theirs, cpus)
        if self._counts_energy or model is None or mine is None or theirs is None:
            return {"energy": _ratio_value(interval, len(series))}
        least, most = energy_ratio_bounds(model, mine, theirs)
        low = (interval.value if interval.low is None else interval.low) * least
        high = (interval.value if interval.high is None else interval.high) * most
        value = _ratio_value(Interval(interval.value, low, high), len(series))
        basis = f"{BY_MEDIAN}, power model {model.name!r}"
        return {"energy": value.model_copy(update={"provenance": "estimated", "basis": basis})}

    @property
    def _counts_energy(self) -> bool:
        return all(_counted_energy(side) is not None for side in (self.mine, self.theirs))

    def _memory_ratio(self) -> dict[str, Value]:
        mine, theirs = (memory_value([side]).get("memory") for side in (self.mine, self.theirs))
        if mine is None or theirs is None or not mine.value or not theirs.value:
            return {}
        return {"memory": Value(value=mine.value / theirs.value, unit="1", n=1, basis="peaks of the two processes")}


def _counted_energy(side: Rounds) -> NDArray[np.float64] | None:
    """Joules an item in each round from a counter; None when some round has none."""
    if any(taken.energy_j is None for taken in side.taken):
        return None
    return np.asarray([float(taken.energy_j or 0.0) / (len(taken.latency_s) * taken.items) for taken in side.taken])


def _ratio_value(interval: Interval, count: int, basis: str = BY_MEDIAN) -> Value:
    return Value(value=interval.value, unit="1", low=interval.low, high=interval.high, n=count, basis=basis)

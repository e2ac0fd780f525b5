"""One phase of a session that is measured alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from autotune.measure.intervals import median_interval
from autotune.measure.rounds import Rounds
from autotune.measure.stopping import ALPHA, Looks
from autotune.measure.summaries import phase_series

__all__ = ["AlonePhase"]


@dataclass
class AlonePhase:
    """Takes rounds until the interval of the phase's metric is narrow enough, or the plan's rounds or time are used up.

    ``alpha``: the level that the final interval may be taken at, given the looks that were taken on the way.
    ``finished`` False: time ran out before the plan's rounds were taken or the interval was narrow enough. ``spent_s``: what
    the rounds have taken so far, of the plan's limit.
    """

    rounds: Rounds
    alpha: float = ALPHA
    finished: bool = False
    spent_s: float = field(default=0.0, init=False)
    _warm: bool = field(default=False, init=False)

    def screen(self) -> AlonePhase:
        """Take the plan's least number of rounds, short ones, for a first impression.

        It is returned as a phase of its own, for rounds of another size are not joined with those measured later; where they
        cannot be shorter, it is this one.
        """
        self.rounds.warm_up()
        self._warm = True
        short = self.rounds.shorter()
        screened = self if short.count == self.rounds.count else AlonePhase(short)
        screened.take_least()
        self.spent_s = screened.spent_s
        return screened

    def take_least(self) -> None:
        """Take the plan's least number of rounds."""
        self._take(self.rounds.plan.min_rounds, None)
        self.rounds.settle()

    def measure(self) -> None:
        """Take all the rounds that are needed, beyond those of a screen."""
        looks = Looks(self.rounds.plan)
        if self._warm:
            self.rounds.warm_again()
        else:
            self.rounds.warm_up()
        self.finished = self._take(self.rounds.plan.max_rounds, looks)
        self.rounds.settle()
        if not self.finished:
            looks.take_last()
        self.alpha = looks.level

    def _take(self, most: int, looks: Looks | None) -> bool:
        """Take rounds until ``most`` count, or a look finds the interval narrow; return False when time runs out.

        Where disturbed ones do not count, as many again are taken at most.
        """
        clock, started = self.rounds.clock, self.rounds.clock.now_s()
        try:
            return self._take_until(most, looks, started + self.rounds.plan.phase_limit_s - self.spent_s)
        finally:
            self.spent_s += clock.now_s() - started

    def _take_until(self, most: int, looks: Looks | None, ends: float) -> bool:
        rounds = self.rounds
        while len(rounds.taken) < most and len(rounds.log) < 2 * most:
            if rounds.out_of_time(ends):
                return False
            rounds.take()
            if looks is not None and self._narrow(looks):
                return True
        return True

    def _narrow(self, looks: Looks) -> bool:
        """Whether a look is due now, and finds the interval narrow enough."""
        count = len(self.rounds.taken)
        if not looks.due(count):
            return False
        looks.take(count)
        interval = median_interval(phase_series(self.rounds)[1], looks.level)
        return interval.half_width <= self.rounds.plan.precision

"""Standings from evidence: Holm's correction, confirmation, levels."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

from autotune.gate.counted import Counted, Peaks
from autotune.gate.evidence import Paired
from autotune.gate.judging import FALSE_FAILURE, Levels, judge, settling_factor
from autotune.measure.intervals import Interval

LEVELS = Levels(fail=0.01, keep=0.05)


@dataclass(frozen=True)
class Known:
    """Evidence whose p-value for being beyond any bound is given."""

    p: float
    twice: bool = True
    final = False

    @property
    def interval(self) -> Interval:
        return Interval(0.1, 0.05, 0.15)

    def beyond(self, bound: float, alpha: float) -> bool:
        return self.p <= alpha

    def within(self, bound: float, alpha: float) -> bool:
        return self.p >= 1 - alpha

    def confirmed(self, bound: float) -> bool:
        return self.twice


def standings(**p_values: float) -> dict[str, str]:
    evidence = {metric: Known(p) for metric, p in p_values.items()}
    return dict(judge(evidence, dict.fromkeys(evidence, 0.05), LEVELS))


def test_holm_steps_down_as_long_as_something_is_certain() -> None:
    # 0.01/3, then 0.01/2, then 0.01: by Holm all three are rejected, by Bonferroni only the first
    assert standings(a=0.003, b=0.0049, c=0.0099) == dict.fromkeys("abc", "worse")


def test_holm_stops_at_the_first_that_is_not_certain() -> None:
    assert standings(a=0.003, b=0.0051, c=0.0099) == {"a": "worse", "b": "undecided", "c": "undecided"}


def test_nothing_is_certain_that_would_be_alone_only() -> None:
    assert standings(a=0.009, b=0.5) == {"a": "undecided", "b": "undecided"}
    assert standings(a=0.009) == {"a": "worse"}


def test_passing_is_not_corrected() -> None:
    assert standings(a=0.96, b=0.97, c=0.99) == dict.fromkeys("abc", "within")


def test_unconfirmed_is_undecided() -> None:
    assert judge({"a": Known(0.0, twice=False)}, {"a": 0.05}, LEVELS) == {"a": "undecided"}


def test_metrics_without_a_bound_are_not_judged() -> None:
    assert judge({"a": Known(0.0)}, {}, LEVELS) == {}


def test_levels_of_all_looks_sum_to_the_whole() -> None:
    shares = [0.0, 0.1, 0.3, 0.55, 1.0]
    spent = sum(Levels.between(before, now).fail for before, now in itertools.pairwise(shares))
    assert spent == pytest.approx(FALSE_FAILURE)


def test_attempts_that_disagree_make_the_interval_wide() -> None:
    generator = np.random.default_rng(0)
    agree = [1 + 0.01 * generator.standard_normal(30) for _ in range(2)]
    differ = (agree[0] - 0.03, agree[1] + 0.03)
    narrow, wide = (Paired("min", tuple(series)).interval for series in (agree, differ))
    assert wide.half_width > 0
    assert (wide.high or 0) - (wide.low or 0) > 5 * ((narrow.high or 0) - (narrow.low or 0))


@pytest.mark.parametrize("slower", [8.0, 16.0])
def test_many_times_as_slow_is_certain_however_unsteady_the_times(slower: float) -> None:
    generator = np.random.default_rng(0)
    ratios = np.where(generator.random(40) < 0.4, slower / 2.5, slower) * generator.normal(1, 0.1, 40)  # two speeds
    assert Paired("min", (ratios[:20], ratios[20:])).beyond(0.05, 1e-4)
    assert Paired("max", (1 / ratios[:20], 1 / ratios[20:])).beyond(0.05, 1e-4)


@pytest.mark.parametrize("goal", ["min", "max"])
def test_an_end_that_reaches_nothing_is_no_error(goal: Literal["min", "max"]) -> None:
    rising = np.concatenate([np.linspace(0.01, 0.02, 10), np.linspace(1, 2, 10)])
    wide = Paired(goal, (rising[:10], rising[10:]))
    assert not wide.beyond(0.05, 1e-6)
    assert not wide.within(0.05, 1e-6)


def test_losses_of_what_should_be_high_are_turned() -> None:
    fallen = Paired("max", (np.full(20, 0.9), np.full(20, 0.9)))
    assert fallen.interval.value == pytest.approx(0.1)
    assert fallen.beyond(0.05, 0.001)
    assert fallen.confirmed(0.05)


def test_peaks_have_to_agree() -> None:
    assert Peaks("min", (1.2, 1.2)).beyond(0.05, 0.01)
    assert not Peaks("min", (1.2, 1.0)).beyond(0.05, 0.01)
    assert not Peaks("min", (1.2, 1.0)).within(0.05, 0.01)
    assert not Peaks("min", (1.2,)).confirmed(0.05)


def test_a_counted_loss_equal_to_the_tolerance_is_within() -> None:
    assert Counted(0.01).within(0.01, 0.01)
    assert Counted(0.0101).beyond(0.01, 0.01)
    assert settling_factor(Counted(0.0101), 0.01) is None


def test_settling_takes_four_times_as_long_for_half_the_width() -> None:
    class TwiceTooWide(Known):
        @property
        def interval(self) -> Interval:
            return Interval(0.0, -0.1, 0.1)

    assert settling_factor(TwiceTooWide(0.5), 0.05) == pytest.approx(4.0)


def test_few_pairs_say_nothing_for_certain() -> None:
    few, enough = (Paired("min", (np.full(count, 2.0), np.full(count, 2.0))) for count in (3, 4))
    assert not few.beyond(0.05, 0.01)
    assert enough.beyond(0.05, 0.01)
    assert not Paired("min", (np.full(7, 0.5),)).within(0.05, 0.05)


def test_one_attempt_among_many_neither_makes_a_loss_nor_hides_one() -> None:
    slow, same = np.full(20, 1.05), np.full(20, 1.0)
    assert Paired("min", (slow, slow)).confirmed(0.02)
    assert not Paired("min", (slow, same)).confirmed(0.02)
    assert Paired("min", (slow, slow, same, slow, slow)).confirmed(0.02)
    assert not Paired("min", (slow, same, same)).confirmed(0.02)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from autotune.core.plan import Plan
from autotune.measure.intervals import autocorrelation_time, median_interval
from autotune.measure.stopping import ALPHA, Looks


def autoregressive(generator: np.random.Generator, count: int, likeness: float) -> np.ndarray:
    series = [generator.standard_normal()]
    for _ in range(count - 1):
        series.append(likeness * series[-1] + np.sqrt(1 - likeness**2) * generator.standard_normal())
    return np.asarray(series)


def coverage(make, count: int, repeats: int = 200) -> float:
    generator = np.random.default_rng(5)
    hits = 0
    for repeat in range(repeats):
        interval = median_interval(1 + 0.02 * make(generator, count), seed=repeat)
        hits += interval.low <= 1 <= interval.high
    return hits / repeats


@pytest.mark.parametrize("count", [8, 20, 60])
def test_interval_covers_the_median_of_independent_rounds(count: int) -> None:
    assert 0.91 <= coverage(lambda generator, n: generator.standard_normal(n), count) <= 1.0


def test_interval_of_alike_neighbours_is_wider_and_covers() -> None:
    def alike(generator: np.random.Generator, count: int) -> np.ndarray:
        return autoregressive(generator, count, 0.5)

    assert coverage(alike, 20) >= 0.88
    assert coverage(alike, 60) >= 0.91
    generator = np.random.default_rng(0)
    independent = median_interval(1 + 0.1 * generator.standard_normal(400))
    together = median_interval(1 + 0.1 * autoregressive(generator, 400, 0.8))
    assert together.half_width > 1.5 * independent.half_width


def test_autocorrelation_time_is_one_for_independent_rounds_and_grows_with_likeness() -> None:
    generator = np.random.default_rng(1)
    assert autocorrelation_time(generator.standard_normal(500)) < 1.3
    assert 5 < autocorrelation_time(autoregressive(generator, 2000, 0.8)) < 14


def test_two_rounds_have_no_interval() -> None:
    interval = median_interval(np.asarray([1.0, 2.0]))
    assert (interval.value, interval.low, interval.high) == (1.5, None, None)
    assert interval.half_width == float("inf")


def test_the_same_rounds_give_the_same_interval() -> None:
    series = np.random.default_rng(2).standard_normal(30)
    assert median_interval(series) == median_interval(series)


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, st.integers(3, 40), elements=st.floats(1e-6, 1e3)))
def test_interval_holds_the_median_and_stays_positive(series: np.ndarray) -> None:
    interval = median_interval(series)
    slack = 1e-9 * interval.value
    assert 0 <= interval.low <= interval.value + slack
    assert interval.value - slack <= interval.high


def test_levels_of_all_looks_sum_to_the_error_rate() -> None:
    looks, total, counts = Looks(Plan(min_rounds=8, max_rounds=60)), 0.0, []
    for count in filter(looks.due, range(1, 61)):
        looks.take(count)
        total += looks.level
        counts.append(count)
    assert total == pytest.approx(ALPHA)
    assert counts[0] == 8
    assert counts[-1] == 60
    assert len(counts) < 10


def test_a_look_that_was_jumped_over_is_still_taken_once() -> None:
    looks = Looks(Plan(min_rounds=8, max_rounds=60))
    assert not looks.due(7)
    assert looks.due(17)
    looks.take(17)
    assert not looks.due(18)
    assert looks.due(60)


def test_a_last_look_ahead_of_plan_uses_what_is_left() -> None:
    looks = Looks(Plan())
    assert looks.level == ALPHA
    looks.take(8)
    spent = looks.level
    looks.take_last()
    assert spent + looks.level == pytest.approx(ALPHA)


def test_stopping_when_narrow_keeps_the_error_rate() -> None:
    plan, generator, hits = Plan(precision=0.01), np.random.default_rng(3), 0
    for repeat in range(150):
        series, looks = 1 + 0.03 * generator.standard_normal(60), Looks(plan)
        for count in filter(looks.due, range(1, 61)):
            looks.take(count)
            interval = median_interval(series[:count], looks.level, seed=repeat)
            if interval.half_width <= plan.precision:
                break
        hits += interval.low <= 1 <= interval.high
    assert hits / 150 >= 0.95

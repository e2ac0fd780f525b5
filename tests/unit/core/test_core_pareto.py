from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autotune.core.pareto import CostRange, dominates

ranges = st.tuples(*[st.integers(0, 8)] * 3).map(lambda ends: CostRange(*map(float, sorted(ends))))
points = st.lists(ranges, min_size=2, max_size=2)
exact = st.integers(0, 8).map(lambda cost: CostRange(cost, cost, cost))

GOOD = CostRange(1.0, 1.1, 1.2)
BAD = CostRange(2.0, 2.1, 2.2)


@given(points)
def test_no_point_beats_itself(one: list[CostRange]) -> None:
    assert not dominates(one, one)


@given(points, points)
def test_no_two_points_beat_each_other(one: list[CostRange], other: list[CostRange]) -> None:
    assert not (dominates(one, other) and dominates(other, one))


def beaten(one: list[CostRange], clear: int, elsewhere: int) -> list[CostRange]:
    """A point that ``one`` beats: clear of it in one objective, no better in the other."""
    low, value, high = one[clear]
    away = high - low + 1
    other = [CostRange(*(cost + elsewhere for cost in costs)) for costs in one]
    other[clear] = CostRange(low + away, value + away, high + away)
    return other


which, distance = st.integers(0, 1), st.integers(0, 3)


@given(points, which, distance, which, distance)
def test_what_beats_a_beater_beats_the_beaten(
    one: list[CostRange], first: int, aside: int, second: int, beside: int
) -> None:
    other = beaten(one, first, aside)
    third = beaten(other, second, beside)
    assert dominates(one, other)
    assert dominates(other, third)
    assert dominates(one, third)


@given(points, points)
def test_nothing_is_beaten_that_may_be_better_somewhere(one: list[CostRange], other: list[CostRange]) -> None:
    better = any(theirs.value < mine.value or theirs.low < mine.low for mine, theirs in zip(one, other, strict=True))
    assert not (better and dominates(one, other))


@given(points, points)
def test_nothing_is_beaten_whose_intervals_overlap_everywhere(one: list[CostRange], other: list[CostRange]) -> None:
    overlap = all(mine.high >= theirs.low for mine, theirs in zip(one, other, strict=True))
    assert not (overlap and dominates(one, other))


@given(st.lists(exact, min_size=3, max_size=3), st.lists(exact, min_size=3, max_size=3))
def test_without_uncertainty_it_is_paretos_dominance(one: list[CostRange], other: list[CostRange]) -> None:
    pairs = list(zip(one, other, strict=True))
    assert dominates(one, other) == (
        all(mine.value <= theirs.value for mine, theirs in pairs)
        and any(mine.value < theirs.value for mine, theirs in pairs)
    )


def test_a_tie_elsewhere_does_not_save_the_worse() -> None:
    assert dominates([GOOD, GOOD], [BAD, GOOD])


def test_a_wide_interval_that_reaches_better_saves_a_point() -> None:
    assert not dominates([GOOD, GOOD], [BAD, CostRange(0.2, 5.0, 9.0)])

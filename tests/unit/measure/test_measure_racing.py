from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autotune.core.objective import objective
from autotune.core.values import Value
from autotune.measure.racing import certainly_dominated

OBJECTIVES = [objective("latency_p50"), objective("throughput"), objective("accuracy")]


def point(latency: tuple[float, ...], throughput: tuple[float, ...], accuracy: tuple[float, ...]) -> dict[str, Value]:
    values = zip(
        ("latency_p50", "throughput", "accuracy"), ("s", "1/s", "1"), (latency, throughput, accuracy), strict=True
    )
    return {name: Value(low=low, value=value, high=high, unit=unit) for name, unit, (low, value, high) in values}


FRONT = point((0.9, 1.0, 1.1), (90, 100, 110), (0.8, 0.9, 0.95))


def test_worse_for_certain_in_one_and_nowhere_better_is_dominated() -> None:
    slower = point((2.0, 2.1, 2.2), (80, 95, 110), (0.8, 0.9, 0.95))
    assert certainly_dominated(slower, OBJECTIVES, [FRONT])


def test_the_same_point_is_not() -> None:
    assert not certainly_dominated(FRONT, OBJECTIVES, [FRONT])


def test_an_advantage_anywhere_keeps_a_candidate() -> None:
    faster = point((2.0, 2.1, 2.2), (90, 120, 140), (0.8, 0.9, 0.95))
    better = point((2.0, 2.1, 2.2), (80, 95, 100), (0.8, 0.92, 0.96))
    assert not certainly_dominated(faster, OBJECTIVES, [FRONT])
    assert not certainly_dominated(better, OBJECTIVES, [FRONT])


def test_a_scattered_candidate_that_may_be_better_is_kept() -> None:
    scattered = point((2.0, 2.1, 2.2), (10, 99, 500), (0.8, 0.9, 0.95))
    assert not certainly_dominated(scattered, OBJECTIVES, [FRONT])


def test_any_point_of_the_front_may_beat_it() -> None:
    slower = point((2.0, 2.1, 2.2), (80, 95, 110), (0.8, 0.9, 0.95))
    elsewhere = point((5, 5, 5), (500, 500, 500), (0.5, 0.5, 0.5))
    assert certainly_dominated(slower, OBJECTIVES, [elsewhere, FRONT])
    assert not certainly_dominated(slower, OBJECTIVES, [elsewhere])


def test_without_an_interval_a_sampled_metric_decides_nothing() -> None:
    slower = point((2.0, 2.1, 2.2), (80, 95, 110), (0.8, 0.9, 0.95))
    once = {**slower, "latency_p50": Value(value=9.0, unit="s", n=2)}
    assert not certainly_dominated(once, OBJECTIVES, [FRONT])
    assert not certainly_dominated(slower, OBJECTIVES, [{**FRONT, "throughput": Value(value=None, unit="1/s")}])
    assert not certainly_dominated(slower, [], [FRONT])
    assert not certainly_dominated(slower, OBJECTIVES, [])


intervals = st.tuples(*[st.floats(0.1, 10)] * 3).map(lambda ends: tuple(sorted(ends)))
points = st.builds(point, intervals, intervals, intervals)


@given(points, points)
def test_two_points_never_beat_each_other(one: dict[str, Value], other: dict[str, Value]) -> None:
    beaten = certainly_dominated(one, OBJECTIVES, [other]), certainly_dominated(other, OBJECTIVES, [one])
    assert not all(beaten)

from __future__ import annotations

import random

from autotune.core.limits import parse_limit
from autotune.core.objective import objective
from autotune.searching.screened import promising

GOALS = (objective("ttft_p90"), objective("output_throughput"))


def figures(ttft: float, throughput: float) -> dict[str, float]:
    return {"ttft": ttft, "output_throughput": throughput}


def test_what_another_beats_is_not_proposed() -> None:
    assert set(promising([figures(1, 10), figures(2, 9), figures(3, 30)], GOALS, ())) == {0, 2}


def test_of_equal_estimates_the_first_is_proposed() -> None:
    assert promising([figures(1, 10)] * 3, GOALS, ()) == [0]


def test_what_breaks_a_limit_is_not_proposed() -> None:
    rows = [figures(1, 10), figures(3, 30)]
    assert promising(rows, GOALS, [parse_limit("ttft_p90<=2s")]) == [0]


def test_a_limit_that_no_estimate_holds_leaves_the_decision_to_the_trials() -> None:
    rows = [figures(1, 10), figures(3, 30)]
    assert set(promising(rows, GOALS, [parse_limit("ttft_p90<=10ms")])) == {0, 1}


def test_goals_and_limits_of_which_nothing_is_known_are_not_looked_at() -> None:
    rows = [figures(1, 10), figures(3, 30)]
    assert promising(rows, (objective("energy"),), ()) == []
    assert promising([], GOALS, ()) == []
    assert promising(rows, (*GOALS[:1], objective("energy")), [parse_limit("memory<=1GiB")]) == [0]


def test_a_fleets_cost_is_judged_by_the_cost_of_its_tokens() -> None:
    rows = [{"cost_per_million_tokens": 2.0}, {"cost_per_million_tokens": 1.0}]
    assert promising(rows, (objective("cost_per_month"),), ()) == [1]


def test_no_more_than_a_few_dozen_are_proposed_and_they_span_the_front() -> None:
    draw = random.Random(0)
    rows = [figures(ttft, ttft**0.5) for ttft in (draw.uniform(0.1, 10) for _ in range(400))]
    chosen = promising(rows, GOALS, ())
    assert len(chosen) == len(set(chosen)) == 36
    times = sorted(rows[row]["ttft"] for row in chosen)
    assert times[0] < 0.3
    assert times[-1] > 9

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.core.trial import Cost
from autotune.searching import Plans
from autotune.searching.budget import Budget
from autotune.searching.contenders import Contender
from autotune.searching.feasibility import violation
from autotune.searching.patience import MIN_WINDOW, Patience
from autotune.searching.plans import overhead_s
from autotune.searching.reserve import closing_s, reserve_s
from autotune.searching.running_front import RunningFront
from autotune.searching.shortlist import by_importance
from autotune.testing.fake_search import fake_search
from autotune.testing.sample_search import sample_record
from autotune.testing.virtual_clock import VirtualClock


def baseline(latency_s=0.001, overhead=2.0, measured=1.0):
    record = sample_record(0)
    metrics = {"latency_p50": record.outcome.metrics["latency_p50"].model_copy(update={"value": latency_s})}
    return record.model_copy(
        update={
            "outcome": record.outcome.model_copy(update={"metrics": metrics}),
            "finished_s": record.started_s + overhead + measured,
            "cost": Cost(measure_s=measured, other_s=overhead),
        }
    )


def contender(name, *costs):
    record = sample_record(1)
    ends = tuple((cost, cost) for cost in costs)
    return Contender(name, record, record.outcome, costs, ends, ends, 1)


def test_budget_counts_this_process_and_those_before():
    clock = VirtualClock()
    clock.sleep(1000)
    budget = Budget(60, clock, already_s=20)
    clock.sleep(5)
    assert (budget.spent_s(), budget.left_s()) == (25, 35)
    assert (budget.unlogged_s(), budget.unlogged_s()) == (5, 0)
    assert Budget(None, clock).left_s() == math.inf


def test_patience_needs_a_share_of_all_trials_and_never_fewer_than_its_window():
    patience = Patience(0.2)
    for _ in range(MIN_WINDOW):
        assert not patience.used_up
        patience.count(False)
    assert patience.used_up
    patience.count(True)
    for _ in range(1000):
        patience.count(True)
    for _ in range(257):
        assert not patience.used_up
        patience.count(False)
    assert patience.used_up


def test_no_patience_means_for_ever():
    patience = Patience(0.0)
    for _ in range(1000):
        patience.count(False)
    assert not patience.used_up


def test_longer_budgets_measure_longer_and_slow_models_get_their_runs():
    short, long = Plans(120, 2).search(baseline()), Plans(14_400, 2).search(baseline())
    assert short.phase_limit_s < long.phase_limit_s
    assert short.precision > long.precision
    assert Plans(14_400, 2).search(baseline(1.0)).phase_limit_s >= 5
    assert Plans(120, 2).search(baseline(10.0)).phase_limit_s <= 1.5


def test_plans_depend_on_nothing_but_their_arguments():
    assert Plans(120, 2).search(baseline()) == Plans(120, 2).search(baseline())


def test_a_trial_may_take_the_time_that_a_training_takes() -> None:
    usual, training = (Plans(3600, 2, recovery_s=seconds).search(baseline()) for seconds in (0.0, 300.0))
    assert training.time_limit_s >= usual.time_limit_s + 300
    assert training.phase_limit_s == usual.phase_limit_s


def test_a_front_plan_fits_in_its_time_or_there_is_none():
    plans = Plans(120, 2)
    assert plans.front(baseline(), 1.0) is None
    plan = plans.front(baseline(), plans.shortest_pair_s(baseline()))
    assert plan is not None
    assert plan.paired
    assert plan.quality == "confirm"
    assert Plans(120, 2, whole=True).front(baseline(), 60).quality == "all"


@given(st.floats(60, 1e5), st.floats(0.1, 300), st.integers(1, 3), st.floats(1e-4, 0.5))
def test_what_a_front_plan_allows_fits_in_the_time_it_was_made_for(total, per_point, phases, latency):
    plan = Plans(total, phases).front(baseline(latency), per_point)
    assert plan is None or overhead_s(baseline(latency)) + phases * plan.longest_phase_s <= per_point


@given(st.floats(5, 1e6), st.integers(0, 100))
def test_the_reserve_leaves_most_of_the_budget_to_the_search(total, points):
    reserve = reserve_s(total, Plans(total, 2), baseline(), points)
    assert closing_s(total) <= reserve <= 0.27 * total + closing_s(total)


def test_overhead_is_what_is_not_measuring():
    assert overhead_s(baseline(overhead=2.0, measured=1.0)) == pytest.approx(2.0)


def test_the_shortlist_begins_with_extremes_and_knee():
    points = [
        contender("a", 0, 10),
        contender("b", 10, 0),
        contender("c", 2, 2),
        contender("d", 1, 8),
        contender("e", 8, 1),
    ]
    assert [one.name for one in by_importance(points)][:3] == ["a", "b", "c"]
    assert {one.name for one in by_importance(points)} == set("abcde")


def test_a_violation_is_relative_to_the_bound_and_never_infinite():
    search = fake_search(limits=("fidelity>=0.5",))
    (limit,) = search.context.limits
    metrics = sample_record(0).outcome.metrics
    assert violation(limit, metrics) < 0
    assert violation(limit, {}) == 1e3


def test_noise_is_no_news_to_the_running_front():
    search = fake_search(objectives=("latency_p50",))
    front = RunningFront(search.objectives, ())
    assert front.add(baseline(1.0))
    better = baseline(0.5)
    better = better.model_copy(update={"trial": better.trial.model_copy(update={"purpose": "search"})})
    nearly = baseline(0.498)
    nearly = nearly.model_copy(update={"trial": nearly.trial.model_copy(update={"purpose": "search"})})
    assert front.add(better)
    assert not front.add(nearly)
    assert len(front.records) == 1


def test_a_repeat_of_the_baseline_is_drift_and_no_point():
    search = fake_search(objectives=("latency_p50",))
    front = RunningFront(search.objectives, ())
    front.add(baseline(1.0))
    assert not front.add(baseline(0.8))
    assert front.drift["latency_p50"] == pytest.approx(0.1 / 0.9)
    assert len(front.records) == 1

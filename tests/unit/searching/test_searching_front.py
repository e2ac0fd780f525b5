from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.core.errors import AllTrialsFailed, NothingFeasible
from autotune.core.metrics import find_metric
from autotune.core.plan import Plan
from autotune.core.trial import Failure, Measurement, Trial, TrialRecord
from autotune.core.values import Value
from autotune.searching import front_of, refuse_nothing_feasible
from autotune.testing.fake_search import fake_search

BASELINE = fake_search().space.baseline
GOALS = ("latency_p50", "fidelity")


def value(name, number, reach=0.0, unit=None, provenance="measured"):
    unit = unit or find_metric(name).unit
    return Value(value=number, unit=unit, low=number - reach, high=number + reach, provenance=provenance)


def record(id, candidate, purpose="search", ratios=None, repeat=0, **metrics):
    plan = Plan(name=purpose, paired=purpose == "front" and candidate != BASELINE)
    trial = Trial(id=id, key=id, candidate=candidate, device="cpu", plan=plan, purpose=purpose, repeat=repeat)
    outcome = Measurement(
        metrics={
            name: value(name, *(number if isinstance(number, tuple) else (number,))) for name, number in metrics.items()
        },
        ratios={name: value(name, *pair, unit="1") for name, pair in (ratios or {}).items()},
    )
    return TrialRecord(trial=trial, started_s=0, finished_s=1, outcome=outcome)


def failed(id, candidate, purpose="search"):
    trial = Trial(id=id, key=id, candidate=candidate, device="cpu", plan=Plan(), purpose=purpose)
    outcome = Failure(stage="measure", cause="crash", message="SIGSEGV\nmore")
    return TrialRecord(trial=trial, started_s=0, finished_s=1, outcome=outcome)


BASE = record("t0001", BASELINE, "baseline", latency_p50=(1e-3, 1e-5), fidelity=1.0)
FAST = BASELINE.with_(precision="fp16")
FASTER = BASELINE.with_(precision="int8", block=16)
ODD = BASELINE.with_(precision="fp16", level="basic", spinning=False)


def ids(front):
    return [point.id for point in front.points]


def reasons(front):
    return {gone.id: gone.reason for gone in front.dropped}


def test_without_a_second_measurement_the_searchs_numbers_are_shown_unpaired():
    front = front_of(
        [BASE, record("t0002", FAST, latency_p50=(5e-4, 1e-5), fidelity=0.99)], fake_search(objectives=GOALS)
    )
    assert sorted(ids(front)) == ["baseline", "t0002"]
    assert front.point("t0002").trial == "t0002"
    assert front.point("t0002").ratios == {}


def test_a_point_measured_again_shows_the_new_numbers_under_its_own_name():
    again = record("f0002", FAST, "front", {"latency_p50": (0.6, 0.01)}, 1, latency_p50=6e-4, fidelity=0.985)
    fresh = record("f0001", BASELINE, "front", None, 1, latency_p50=1.02e-3, fidelity=1.0)
    found = record("t0002", FAST, latency_p50=(5e-4, 1e-5), fidelity=0.99)
    front = front_of([BASE, found, fresh, again], fake_search(objectives=GOALS))
    point = front.point("t0002")
    assert (point.trial, point.metrics["latency_p50"].value, point.ratios["latency_p50"].value) == ("f0002", 6e-4, 0.6)
    assert (front.baseline.id, front.baseline.trial) == ("baseline", "f0001")
    assert front.knee in ids(front)


def test_a_point_whose_paired_interval_holds_one_is_not_better_than_the_baseline():
    found = record("t0002", FAST, latency_p50=(9e-4, 1e-5), fidelity=1.0)
    again = record("f0001", FAST, "front", {"latency_p50": (0.99, 0.02)}, 1, latency_p50=9e-4, fidelity=1.0)
    front = front_of([BASE, found, again], fake_search(objectives=GOALS))
    assert ids(front) == ["baseline"]
    assert reasons(front) == {"t0002": "measured again: not distinguishable from the baseline"}


def test_a_point_that_only_loses_is_dropped_as_better_in_nothing():
    found = record("t0002", FAST, latency_p50=(9e-4, 1e-5), fidelity=0.9)
    again = record("f0001", FAST, "front", {"latency_p50": (0.99, 0.02)}, 1, latency_p50=9e-4, fidelity=0.9)
    front = front_of([BASE, found, again], fake_search(objectives=GOALS))
    assert reasons(front) == {"t0002": "measured again: better than the baseline in nothing"}


def test_a_point_dominated_when_measured_again_falls_off():
    records = [
        BASE,
        record("t0002", FAST, latency_p50=(5e-4, 1e-6), fidelity=0.97),
        record("t0003", FASTER, latency_p50=(6e-4, 1e-6), fidelity=0.98),
        record("f0001", FAST, "front", {"latency_p50": (0.7, 0.01)}, 1, latency_p50=7e-4, fidelity=0.97),
        record("f0002", FASTER, "front", {"latency_p50": (0.6, 0.01)}, 1, latency_p50=6e-4, fidelity=0.98),
    ]
    front = front_of(records, fake_search(objectives=GOALS))
    assert sorted(ids(front)) == ["baseline", "t0003"]
    assert reasons(front) == {"t0002": "measured again: t0003 is at least as good in every objective"}


def test_a_point_that_was_not_reached_is_dropped_and_said():
    records = [
        BASE,
        record("t0002", FAST, latency_p50=(5e-4, 1e-6), fidelity=0.99),
        record("t0003", FASTER, latency_p50=(4e-4, 1e-6), fidelity=0.9),
        record("f0001", FAST, "front", {"latency_p50": (0.5, 0.01)}, 1, latency_p50=5e-4, fidelity=0.99),
    ]
    assert reasons(front_of(records, fake_search(objectives=GOALS))) == {
        "t0003": "not measured again: no time was left for it"
    }


def test_a_point_that_fails_when_measured_again_is_dropped_with_its_cause():
    records = [
        BASE,
        record("t0002", FAST, latency_p50=(5e-4, 1e-6), fidelity=0.99),
        failed("f0001", FAST, "front"),
    ]
    front = front_of(records, fake_search(objectives=GOALS))
    assert ids(front) == ["baseline"]
    assert reasons(front) == {"t0002": "failed when measured again: SIGSEGV"}


def test_a_limit_broken_when_measured_again_drops_the_point():
    records = [
        BASE,
        record("t0002", FAST, latency_p50=(5e-4, 1e-6), fidelity=0.99),
        record("f0001", FAST, "front", {"latency_p50": (0.5, 0.01)}, 1, latency_p50=5e-4, fidelity=0.97),
    ]
    front = front_of(records, fake_search(objectives=GOALS, limits=("fidelity>=0.98",)))
    assert reasons(front) == {"t0002": "measured again: breaks the limit fidelity>=0.98"}


def test_where_the_interval_straddles_a_limit_the_value_decides():
    search = fake_search(objectives=GOALS, limits=("fidelity>=0.98",))
    good = record("t0002", FAST, latency_p50=(5e-4, 1e-6), fidelity=(0.985, 0.01))
    bad = record("t0003", FASTER, latency_p50=(4e-4, 1e-6), fidelity=(0.975, 0.01))
    front = front_of([BASE, good, bad], search)
    assert sorted(ids(front)) == ["baseline", "t0002"]
    assert [(miss.id, round(miss.by, 6)) for miss in front.misses] == [("t0003", 0.005)]


def test_nothing_feasible_names_the_nearest_misses():
    search = fake_search(objectives=GOALS, limits=("latency_p50<=100us",))
    others = [record(f"t{n:04d}", BASELINE.with_(batch=n), latency_p50=n * 1e-3, fidelity=1.0) for n in range(2, 10)]
    front = front_of([BASE, *others], search)
    assert front.points == ()
    assert [miss.id for miss in front.misses] == ["t0001", "t0002", "t0003", "t0004", "t0005"]
    with pytest.raises(NothingFeasible, match=r"t0001 misses latency_p50<=100us by 0\.900 ms"):
        refuse_nothing_feasible(front)


def test_of_points_that_nothing_tells_apart_the_one_nearest_the_baseline_stays():
    one = record("t0002", ODD, latency_p50=(5.00e-4, 1e-5), fidelity=0.99)
    two = record("t0003", FAST, latency_p50=(5.01e-4, 1e-5), fidelity=(0.9901, 0.001))
    front = front_of([BASE, one, two], fake_search(objectives=GOALS))
    assert sorted(ids(front)) == ["baseline", "t0003"]


def test_the_baselines_repeats_widen_what_counts_as_a_difference():
    slower = record("t0011", BASELINE, "baseline", repeat=1, latency_p50=(1.2e-3, 1e-5), fidelity=1.0)
    found = record("t0002", FAST, latency_p50=(9.5e-4, 1e-6), fidelity=1.0)
    search = fake_search(objectives=GOALS)
    assert "t0002" in ids(front_of([BASE, found], search))
    assert ids(front_of([BASE, found, slower], search)) == ["baseline"]


def test_estimated_energy_is_compared_without_its_models_uncertainty():
    def energy(id, candidate, purpose, joules):
        made = record(id, candidate, purpose, latency_p50=1e-3)
        wide = Value(value=joules, unit="J", low=joules / 2, high=joules * 2, provenance="estimated")
        metrics = {**made.outcome.metrics, "energy": wide}
        return made.model_copy(update={"outcome": made.outcome.model_copy(update={"metrics": metrics})})

    search = fake_search(objectives=("latency_p50", "energy"))
    front = front_of([energy("t0001", BASELINE, "baseline", 2.0), energy("t0002", FAST, "search", 1.0)], search)
    assert ids(front) == ["t0002"]


def test_memory_within_two_per_cent_is_no_gain():
    base = record("t0001", BASELINE, "baseline", latency_p50=1e-3, memory=100e6)
    less = record("t0002", FAST, latency_p50=1e-3, memory=99e6)
    front = front_of([base, less], fake_search(objectives=("latency_p50", "memory")))
    assert ids(front) == ["baseline"]


def test_accuracy_lost_is_judged_on_the_same_samples():
    base = record("t0001", BASELINE, "baseline", latency_p50=1e-3, accuracy=(0.95, 0.03), accuracy_drop=0.0)
    found = record("t0002", FAST, latency_p50=1e-3, accuracy=(0.96, 0.03), accuracy_drop=(-0.01, 0.005))
    again = record(
        "f0001",
        FAST,
        "front",
        {"latency_p50": (1.0, 0.01)},
        1,
        latency_p50=1e-3,
        accuracy=(0.96, 0.03),
        accuracy_drop=(-0.01, 0.005),
    )
    front = front_of([base, found, again], fake_search(objectives=("latency_p50", "accuracy")))
    assert front.quality == "accuracy"
    assert ids(front) == ["t0002"]


def test_a_likely_loss_of_quality_does_not_hide_the_point_that_avoids_it():
    faithful = record("t0002", FAST, latency_p50=(6e-4, 1e-6), fidelity=(0.995, 0.004))
    faster = record("t0003", FASTER, latency_p50=(5e-4, 1e-6), fidelity=(0.990, 0.005))
    front = front_of([BASE, faithful, faster], fake_search(objectives=GOALS))
    assert sorted(ids(front)) == ["baseline", "t0002", "t0003"]


def test_quality_within_its_interval_is_not_better_than_the_baseline():
    base = record("t0001", BASELINE, "baseline", latency_p50=1e-3, accuracy=0.90, accuracy_drop=0.0)
    lucky = record("t0002", FAST, latency_p50=1e-3, accuracy=(0.91, 0.03), accuracy_drop=(-0.01, 0.02))
    front = front_of([base, lucky], fake_search(objectives=("latency_p50", "accuracy")))
    assert ids(front) == ["baseline"]


def test_a_search_whose_baseline_never_ran_has_no_front():
    with pytest.raises(AllTrialsFailed, match="SIGSEGV"):
        front_of([failed("t0001", BASELINE, "baseline")], fake_search(objectives=GOALS))


numbers = st.floats(0.1, 10.0)


@given(st.lists(st.tuples(numbers, numbers, st.floats(0, 0.5)), max_size=30))
def test_no_point_of_a_front_lacks_a_certain_advantage_over_each_other(points):
    tried = [
        record(f"t{n:04d}", BASELINE.with_(batch=n), latency_p50=(a, a * r), energy=(b, b * r))
        for n, (a, b, r) in enumerate(points, start=2)
    ]
    base = record("t0001", BASELINE, "baseline", latency_p50=1.0, energy=1.0)
    front = front_of([base, *tried], fake_search(objectives=("latency_p50", "energy")))
    assert front.points
    assert "baseline" not in reasons(front)
    assert front.knee in ids(front)
    for one in front.points:
        for other in front.points:
            if one is not other:
                assert any(
                    one.metrics[m].interval()[1] < other.metrics[m].interval()[0] for m in ("latency_p50", "energy")
                )

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.core.plan import Plan
from autotune.core.trial import Failure, Measurement, Trial, TrialRecord
from autotune.core.values import Value
from autotune.searching import front_of
from autotune.searching.spread import pooled, reach_of, reaches, widened
from autotune.testing.fake_search import fake_search

BASELINE = fake_search().space.baseline


def repeat(number, latency_s, purpose="baseline", candidate=BASELINE):
    trial = Trial(
        id=f"t{number:04}",
        key=str(number),
        candidate=candidate,
        device="cpu",
        plan=Plan(),
        purpose=purpose,
        repeat=number,
    )
    latency = Value(value=latency_s, unit="s", low=latency_s * 0.99, high=latency_s * 1.01, basis="median of 8 rounds")
    metrics = {"latency_p50": latency, "fidelity": Value(value=1.0, unit="1", low=1.0, high=1.0)}
    return TrialRecord(trial=trial, started_s=0, finished_s=1, outcome=Measurement(metrics=metrics))


def test_the_reach_holds_the_value_of_many_on_a_machine_of_two_speeds():
    generator = np.random.default_rng(7)
    speeds = np.where(generator.random(4000) < 0.4, 1.44, 1.30) * generator.normal(1, 0.004, 4000)
    centre = float(np.median(speeds))
    held = [
        abs(np.log(speeds[first] / centre)) <= reach_of(speeds[first + 1 : first + 6])
        for first in range(0, len(speeds) - 6, 6)
    ]
    assert 0.9 <= np.mean(held) <= 0.99


def test_one_repeat_tells_nothing_and_equal_ones_widen_nothing():
    assert reach_of([1.0]) == 0.0
    assert reach_of([2.0, 2.0, 2.0]) == 0.0


@given(st.lists(st.floats(0.01, 100.0), min_size=2, max_size=12))
def test_no_interval_reaches_far_beyond_what_was_seen(repeats):
    assert reach_of(repeats) <= 1.5 * np.log(max(repeats) / min(repeats)) + 1e-9


@given(st.lists(st.floats(0.5, 2.0), min_size=2, max_size=12), st.floats(0.1, 10.0))
def test_the_reach_does_not_depend_on_the_unit(repeats, unit):
    assert reach_of([unit * one for one in repeats]) == pytest.approx(reach_of(repeats), abs=1e-9)


def test_repeats_of_the_baseline_count_wherever_they_were_taken_and_other_candidates_do_not():
    other = BASELINE.with_(precision="fp16")
    records = [repeat(1, 1.0), repeat(2, 1.1), repeat(3, 1.2, purpose="front"), repeat(4, 9.0, "search", other)]
    assert reaches(records)["latency_p50"] == pytest.approx(reach_of([1.0, 1.1, 1.2]))


def test_shares_do_not_move_with_the_machine_though_the_search_and_the_front_look_at_different_samples():
    def scored(number, accuracy, purpose):
        record = repeat(number, 1.0, purpose)
        metrics = {**record.measurement.metrics, "accuracy": Value(value=accuracy, unit="1", low=0.9, high=1.0)}
        return record.model_copy(update={"outcome": Measurement(metrics=metrics)})

    records = [scored(1, 0.992, "baseline"), scored(2, 1.0, "front")]
    assert set(reaches(records)) == {"latency_p50"}
    assert front_of(records, fake_search()).baseline.metrics["accuracy"].high == 1.0


def test_only_what_was_measured_with_an_interval_is_widened():
    plain = Value(value=1.0, unit="s", low=0.9, high=1.1)
    metrics = {
        "latency_p50": plain,
        "energy": plain.model_copy(update={"provenance": "estimated"}),
        "size": Value(value=10.0, unit="bytes"),
    }
    shown = widened(metrics, dict.fromkeys(metrics, np.log(1.5)))
    assert (shown["latency_p50"].low, shown["latency_p50"].high) == (pytest.approx(0.6), pytest.approx(1.65))
    assert "50.0%" in shown["latency_p50"].basis
    assert shown["energy"] == metrics["energy"]
    assert shown["size"] == metrics["size"]


def test_the_front_shows_intervals_that_reach_as_far_as_the_machine_moved():
    calm = front_of([repeat(1, 1.0), repeat(2, 1.0)], fake_search()).baseline.metrics
    moved = front_of([repeat(1, 1.0), repeat(2, 1.1), repeat(3, 1.0), repeat(4, 1.1)], fake_search()).baseline.metrics
    assert calm["latency_p50"].high == pytest.approx(1.01)
    assert moved["latency_p50"].high > 1.1
    assert moved["fidelity"].high == 1.0


def paired(number, ratio):
    value = Value(value=ratio, unit="1", low=ratio * 0.98, high=ratio * 1.02)
    record = repeat(number, 1.0, "front")
    return record.model_copy(update={"outcome": record.outcome.model_copy(update={"ratios": {"latency_p50": value}})})


def ratio_of(*looks):
    return pooled(looks).measurement.ratios["latency_p50"]


def test_a_ratio_is_the_middle_one_of_its_looks_and_reaches_to_what_each_was_certain_of():
    shown = ratio_of(paired(1, 0.54), paired(2, 0.5), paired(3, 0.495))
    assert shown.value == pytest.approx(0.5)
    assert shown.low <= 0.98 * 0.495
    assert shown.high >= 1.02 * 0.54
    assert shown.basis == "3 pairs"


def test_a_ratio_that_was_looked_at_once_is_shown_as_it_was_read():
    assert pooled([paired(1, 0.5)]) == paired(1, 0.5)


def test_a_point_that_failed_at_its_last_look_has_failed():
    lost = paired(2, 0.5).model_copy(update={"outcome": Failure(stage="measure", cause="crash", message="SIGSEGV")})
    assert pooled([paired(1, 0.5), lost]) == lost


@given(st.lists(st.floats(0.1, 10.0), min_size=2, max_size=3))
def test_the_interval_of_several_looks_holds_each_of_them(ratios):
    shown = ratio_of(*(paired(number, ratio) for number, ratio in enumerate(ratios)))
    assert shown.low <= min(ratios)
    assert max(ratios) <= shown.high
    assert shown.low <= shown.value <= shown.high


@pytest.mark.parametrize(("count", "share"), [(3, 0.85), (5, 0.92)])
def test_a_fresh_look_lies_in_the_interval_of_others_where_processes_differ(count, share):
    generator = np.random.default_rng(11)
    held = 0
    for _ in range(300):
        *looks, fresh = np.exp(generator.normal(0, 0.05, count + 1))
        shown = ratio_of(*(paired(number, ratio) for number, ratio in enumerate(looks)))
        held += shown.low <= fresh <= shown.high
    assert held >= share * 300


def test_a_ratio_without_an_interval_is_given_none():
    def peak(number, ratio):
        record = paired(number, ratio)
        memory = {"memory": Value(value=ratio, unit="1", n=1)}
        return record.model_copy(update={"outcome": record.outcome.model_copy(update={"ratios": memory})})

    shown = pooled([peak(1, 1.2), peak(2, 1.3)]).measurement.ratios["memory"]
    assert (shown.low, shown.high) == (None, None)
    assert shown.value == pytest.approx(np.sqrt(1.2 * 1.3))

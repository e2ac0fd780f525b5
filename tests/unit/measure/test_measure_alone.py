from __future__ import annotations

import numpy as np
import pytest

from autotune.core.errors import MeasureError
from autotune.core.objective import objective
from autotune.core.plan import Plan
from autotune.core.power import PowerModel, Watts
from autotune.core.values import Value
from autotune.measure import measure

PLAN = Plan()
POWER = PowerModel(
    name="p", idle_w=Watts(typical=1, low=0.5, high=2), busy_w=Watts(typical=4, low=3, high=6), source="t"
)


def test_both_phases_give_their_metrics(fake, clock) -> None:
    session = fake.session(fake.noisy(0.002, 0.02))
    measured = measure(session, [fake.load(), fake.load("offline", 4)], PLAN, clock=clock, watch=fake.watch)
    latency, throughput = measured.metrics["latency_p50"], measured.metrics["throughput"]
    assert latency.value == pytest.approx(0.002, rel=0.02)
    assert latency.low < latency.value < latency.high
    assert latency.provenance == "measured"
    assert throughput.value == pytest.approx(2000, rel=0.02)
    assert measured.metrics["memory"].value == 1000
    assert measured.steady
    assert measured.stopped is None
    assert measured.arrays["single_stream_latency_s"].ndim == 2
    assert measured.notes == ()


def test_a_round_of_a_short_model_lasts_ten_milliseconds(fake, clock) -> None:
    session = fake.session(lambda _: 0.0001)
    measure(session, [fake.load()], Plan(round_s=0.001), clock=clock, watch=fake.watch)
    assert session.counts[-1] == pytest.approx(100, abs=1)


def test_a_round_of_a_slow_model_is_one_request(fake, clock) -> None:
    session = fake.session(lambda _: 0.3)
    measured = measure(session, [fake.load()], PLAN, clock=clock, watch=fake.watch)
    assert set(session.counts) == {1}
    assert measured.stopped == "limit"
    assert clock.now_s() < PLAN.warmup_limit_s + PLAN.phase_limit_s + 1


def test_a_quiet_session_takes_the_fewest_rounds_and_a_noisy_one_more(fake, clock) -> None:
    quiet = measure(fake.session(fake.noisy(0.01, 0.001)), [fake.load()], PLAN, clock=clock, watch=fake.watch)
    loud = measure(fake.session(fake.noisy(0.01, 0.2)), [fake.load()], PLAN, clock=clock, watch=fake.watch)
    assert len(quiet.arrays["single_stream_wall_s"]) == PLAN.min_rounds
    assert len(loud.arrays["single_stream_wall_s"]) > 2 * PLAN.min_rounds


def test_cold_runs_are_not_measured(fake, clock) -> None:
    session = fake.session(lambda now_s: 0.001 * (1 + 3 * np.exp(-now_s / 0.1)))
    measured = measure(session, [fake.load()], PLAN, clock=clock, watch=fake.watch)
    assert measured.steady
    assert measured.metrics["latency_p50"].value == pytest.approx(0.001, rel=0.05)


def test_a_session_that_never_becomes_steady_is_said_to(fake, clock) -> None:
    session = fake.session(lambda now_s: 0.001 * (1 + now_s))
    measured = measure(session, [fake.load()], PLAN, clock=clock, watch=fake.watch)
    assert not measured.steady
    assert "never became steady" in measured.notes[0]


def test_percentiles_follow_the_number_of_samples(fake, clock) -> None:
    plan = Plan(min_rounds=2, max_rounds=2, round_s=0.02, phase_limit_s=100)
    few = measure(fake.session(lambda _: 0.001), [fake.load()], plan, clock=clock, watch=fake.watch)
    many = measure(fake.session(lambda _: 0.00002), [fake.load()], plan, clock=clock, watch=fake.watch)
    assert [name for name in few.metrics if name.startswith("latency")] == ["latency_p50", "latency_p80"]
    assert {"latency_p90", "latency_p99"} <= set(many.metrics)


def test_energy_is_estimated_from_cpu_seconds_and_wall_time(fake, clock) -> None:
    session = fake.session(lambda _: 0.01, cpu=1.5)
    measured = measure(session, [fake.load("offline", 2)], PLAN, clock=clock, power=POWER, cpus=2, watch=fake.watch)
    energy, power = measured.metrics["energy"], measured.metrics["power"]
    assert energy.provenance == "estimated"
    assert power.value == pytest.approx(1 * 2 + 3 * 1.5)
    assert energy.value == pytest.approx(power.value * 0.01 / 2)
    assert energy.low == pytest.approx((0.5 * 2 + 2.5 * 1.5) * 0.005)
    assert energy.high == pytest.approx((2 * 2 + 4 * 1.5) * 0.005)
    assert "'p'" in energy.basis


def test_without_a_power_model_energy_is_absent(fake, clock) -> None:
    measured = measure(fake.session(lambda _: 0.01), [fake.load()], PLAN, clock=clock, watch=fake.watch)
    assert "energy" not in measured.metrics


def test_disturbed_rounds_are_taken_again_and_counted(fake, clock) -> None:
    watch = fake.scripted_watch("steal", "", "steal")
    measured = measure(fake.session(lambda _: 0.01), [fake.load()], PLAN, clock=clock, watch=watch)
    assert measured.disturbed_rounds == 2
    assert len(measured.arrays["single_stream_wall_s"]) == PLAN.min_rounds
    assert measured.notes == ()


def test_a_measurement_that_stays_disturbed_keeps_all_its_rounds_and_says_so(fake, clock) -> None:
    watch = fake.scripted_watch(*["steal"] * 1000)
    measured = measure(fake.session(lambda _: 0.01), [fake.load()], PLAN, clock=clock, watch=watch)
    count = len(measured.arrays["single_stream_wall_s"])
    assert measured.disturbed_rounds == count > PLAN.min_rounds
    assert measured.stopped == "limit"
    assert measured.notes == (f"single_stream: {count} of {count} rounds were disturbed and count (steal)",)


def test_a_neighbour_that_comes_and_goes_leaves_enough_undisturbed_rounds(fake, clock) -> None:
    def crowded(now_s: float) -> float:
        return 0.05 if now_s % 0.5 < 0.3 else 0.01

    class Crowd(fake.scripted_watch):
        def stop(self, samples):
            return ("steal",) if samples.latency_s.max() > 0.02 else ()

    measured = measure(fake.session(crowded), [fake.load()], PLAN, clock=clock, watch=Crowd())
    assert measured.metrics["latency_p50"].value == pytest.approx(0.01)
    assert measured.notes == ()


def test_a_screen_under_a_constant_load_takes_twice_its_rounds_at_most(fake, clock) -> None:
    fast = Value(value=0.001, unit="s", low=0.001, high=0.001)
    measured = measure(
        fake.session(lambda _: 0.002),
        [fake.load()],
        PLAN,
        clock=clock,
        watch=fake.scripted_watch(*["steal"] * 1000),
        objectives=[objective("latency_p50")],
        bar=[{"latency_p50": fast}],
    )
    assert measured.stopped == "dominated"
    assert len(measured.arrays["single_stream_wall_s"]) == 2 * PLAN.min_rounds


def test_disturbed_rounds_count_when_time_leaves_too_few_others(fake, clock) -> None:
    watch = fake.scripted_watch("steal", "", "steal")
    measured = measure(fake.session(lambda _: 0.5), [fake.load()], PLAN, clock=clock, watch=watch)
    assert measured.stopped == "limit"
    assert len(measured.arrays["single_stream_wall_s"]) == 4
    assert measured.disturbed_rounds == 2


def race(fake, clock, front_latency_s: float, accuracy: Value | None, latency_s: float = 0.01):
    value = Value(value=front_latency_s, unit="s", low=front_latency_s * 0.99, high=front_latency_s * 1.01)
    perfect = Value(value=0.9, unit="1", low=0.9, high=0.9)
    return measure(
        fake.session(fake.noisy(latency_s, 0.1)),
        [fake.load()],
        PLAN,
        clock=clock,
        watch=fake.watch,
        objectives=[objective("latency_p50"), objective("accuracy")],
        bar=[{"latency_p50": value, "accuracy": perfect}],
        known={"accuracy": accuracy} if accuracy else None,
    )


def test_a_certainly_dominated_candidate_stops_after_a_screen(fake, clock) -> None:
    measured = race(fake, clock, 0.005, Value(value=0.9, unit="1", low=0.9, high=0.9))
    assert measured.stopped == "dominated"
    assert len(measured.arrays["single_stream_wall_s"]) == PLAN.min_rounds
    assert measured.metrics["latency_p50"].known


@pytest.mark.parametrize(
    ("front_latency_s", "accuracy"),
    [
        (0.005, None),
        (0.005, Value(value=0.95, unit="1", low=0.93, high=0.97)),
        (0.0099, Value(value=0.9, unit="1", low=0.9, high=0.9)),
        (0.02, Value(value=0.9, unit="1", low=0.9, high=0.9)),
    ],
)
def test_a_candidate_that_may_be_on_the_front_is_measured_in_full(fake, clock, front_latency_s, accuracy) -> None:
    measured = race(fake, clock, front_latency_s, accuracy)
    assert measured.stopped != "dominated"
    assert len(measured.arrays["single_stream_wall_s"]) > PLAN.min_rounds


def test_a_screen_takes_short_rounds(fake, clock) -> None:
    perfect = Value(value=0.9, unit="1", low=0.9, high=0.9)
    dominated = race(fake, clock, 0.0005, perfect, latency_s=0.001)
    measured = race(fake, clock, 0.002, perfect, latency_s=0.001)
    requests = [one.arrays["single_stream_latency_s"].shape[1] for one in (dominated, measured)]
    assert requests[0] < 0.25 * requests[1]


def test_a_wide_power_model_keeps_no_candidate_in_the_race(fake, clock) -> None:
    idle, busy = Watts(typical=1, low=0.2, high=5), Watts(typical=4, low=1, high=20)
    measured = measure(
        fake.session(fake.noisy(0.01, 0.1)),
        [fake.load()],
        PLAN,
        clock=clock,
        watch=fake.watch,
        power=PowerModel(name="p", idle_w=idle, busy_w=busy, source="t"),
        objectives=[objective("energy")],
        bar=[{"energy": Value(value=0.02, unit="J", low=0.02, high=0.02, provenance="estimated")}],
    )
    assert measured.stopped == "dominated"
    assert measured.metrics["energy"].low < 0.02


def test_a_screen_counts_against_the_phases_time(fake, clock) -> None:
    slow = Value(value=9.0, unit="s", low=9.0, high=9.0)
    measure(
        fake.session(lambda _: 0.5),
        [fake.load()],
        PLAN,
        clock=clock,
        watch=fake.watch,
        objectives=[objective("latency_p50")],
        bar=[{"latency_p50": slow}],
    )
    assert clock.now_s() <= PLAN.warmup_limit_s + PLAN.phase_limit_s + 2


def test_too_few_rounds_for_an_interval_dominate_nothing(fake, clock) -> None:
    fast = Value(value=0.001, unit="s", low=0.001, high=0.001)
    measured = measure(
        fake.session(lambda _: 3.0),
        [fake.load()],
        PLAN,
        clock=clock,
        watch=fake.watch,
        objectives=[objective("latency_p50")],
        bar=[{"latency_p50": fast}],
    )
    assert measured.metrics["latency_p50"].low is None
    assert measured.stopped == "limit"


def test_three_rounds_are_taken_even_when_they_need_a_little_longer(fake, clock) -> None:
    measured = measure(fake.session(lambda _: 0.9), [fake.load()], PLAN, clock=clock, watch=fake.watch)
    assert len(measured.arrays["single_stream_wall_s"]) == 3
    assert measured.metrics["latency_p50"].low is not None


def test_rounds_are_smaller_where_the_least_number_would_not_fit(fake, clock) -> None:
    plan = Plan(round_s=0.05, min_rounds=5, phase_limit_s=0.1)
    session = fake.session(lambda _: 0.001)
    measure(session, [fake.load()], plan, clock=clock, watch=fake.watch)
    assert session.counts[-1] == 20


def test_a_phase_of_another_kind_is_refused(fake, clock) -> None:
    with pytest.raises(MeasureError, match="multi_stream"):
        measure(fake.session(lambda _: 0.01), [fake.load("multi_stream")], PLAN, clock=clock, watch=fake.watch)

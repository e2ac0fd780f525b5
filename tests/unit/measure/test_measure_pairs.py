from __future__ import annotations

import numpy as np
import pytest

from autotune.core.plan import Plan
from autotune.core.power import PowerModel, Watts
from autotune.measure import Against, measure

PLAN = Plan(paired=True, min_rounds=8, max_rounds=40, precision=0.005, phase_limit_s=10)
POWER = PowerModel(
    name="p", idle_w=Watts(typical=1, low=0.5, high=2), busy_w=Watts(typical=4, low=3, high=6), source="t"
)


def compare(fake, clock, mine, theirs, plan=PLAN, scenario="single_stream", watch=None, **options):
    order: list[str] = []
    a = fake.session(mine, name="A", order=order, **options)
    b = fake.session(theirs, name="B", order=order, **options)
    load = fake.load(scenario)
    measured = measure(
        a, [load], plan, clock=clock, watch=watch or fake.watch, power=POWER, against=Against(b, (load,))
    )
    assert not a.paused
    assert not b.paused
    return measured, order


def test_a_against_a_reads_one(fake, clock) -> None:
    measured, _ = compare(fake, clock, fake.noisy(0.005, 0.05, 1), fake.noisy(0.005, 0.05, 2))
    ratio = measured.ratios["latency_p50"]
    assert ratio.value == pytest.approx(1.0, abs=0.02)
    assert ratio.low <= 1 <= ratio.high


def test_ten_percent_more_reads_one_tenth_more(fake, clock) -> None:
    measured, _ = compare(fake, clock, fake.noisy(0.0055, 0.05, 1), fake.noisy(0.005, 0.05, 2))
    ratio = measured.ratios["latency_p50"]
    assert ratio.value == pytest.approx(1.10, abs=0.02)
    assert ratio.low > 1.05


def test_throughput_is_this_side_by_the_other(fake, clock) -> None:
    measured, _ = compare(fake, clock, lambda _: 0.005, lambda _: 0.01, scenario="offline")
    assert measured.ratios["throughput"].value == pytest.approx(2.0)
    assert measured.ratios["energy"].value == pytest.approx(0.5)
    assert measured.ratios["energy"].provenance == "estimated"
    assert measured.ratios["memory"].value == 1.0


def test_rounds_alternate_abba_and_warm_again_after_each_switch(fake, clock) -> None:
    plan = PLAN.model_copy(update={"min_rounds": 4, "max_rounds": 4})
    _, order = compare(fake, clock, lambda _: 0.1, lambda _: 0.1, plan)
    text = "".join(order)
    assert text.endswith("ABB" + "BAA" + "ABB" + "BAA")
    assert text.startswith("B" * 8)


def test_a_paired_phase_ends_with_the_pair_that_passes_the_plans_time(fake, clock) -> None:
    plan = PLAN.model_copy(update={"max_rounds": 10_000, "precision": 1e-9, "phase_limit_s": 1.0, "round_s": 0.05})
    compare(fake, clock, fake.noisy(0.005, 0.2, 1), fake.noisy(0.005, 0.2, 2), plan)
    assert clock.now_s() <= plan.longest_phase_s + 3 * plan.round_s


def test_a_linear_drift_cancels(fake, clock) -> None:
    def drifting(now_s: float) -> float:
        return 0.005 * (1 + 0.1 * now_s)

    measured, _ = compare(fake, clock, drifting, drifting)
    assert measured.ratios["latency_p50"].value == pytest.approx(1.0, abs=0.01)


def test_a_machine_with_two_speeds_cancels(fake, clock) -> None:
    generator = np.random.default_rng(7)
    speeds = np.repeat(1 + 0.4 * generator.integers(0, 2, 400), 1)

    def bimodal(now_s: float) -> float:
        return 0.005 * float(speeds[int(now_s / 0.7) % len(speeds)])

    measured, _ = compare(fake, clock, lambda now_s: 1.1 * bimodal(now_s), bimodal)
    assert measured.ratios["latency_p50"].value == pytest.approx(1.1, abs=0.02)


def test_cold_runs_after_a_switch_do_not_count(fake, clock) -> None:
    measured, _ = compare(fake, clock, lambda _: 0.005, lambda _: 0.005, cold_runs=2)
    assert measured.ratios["latency_p50"].value == pytest.approx(1.0)
    assert measured.metrics["latency_p50"].value == pytest.approx(0.005)


def test_a_disturbed_pair_is_taken_again_as_a_pair(fake, clock) -> None:
    watch = fake.scripted_watch("", "steal")
    measured, _ = compare(fake, clock, lambda _: 0.005, lambda _: 0.005, watch=watch)
    assert measured.disturbed_rounds == 2
    mine, theirs = measured.arrays["single_stream_wall_s"], measured.arrays["against_single_stream_wall_s"]
    assert mine.shape == theirs.shape == (8,)


def test_time_is_bounded_by_twice_the_plans_limit(fake, clock) -> None:
    plan = PLAN.model_copy(update={"phase_limit_s": 1.0, "max_rounds": 1000, "precision": 1e-9})
    measured, _ = compare(fake, clock, fake.noisy(0.01, 0.1, 1), fake.noisy(0.01, 0.1, 2), plan)
    assert measured.stopped == "limit"
    assert clock.now_s() < 2.0 + 2 * plan.warmup_limit_s + 0.5


def test_sessions_go_on_when_one_fails(fake, clock) -> None:
    def failing(now_s: float) -> float:
        if now_s > 1:
            raise RuntimeError("gone")
        return 0.01

    a, b = fake.session(failing), fake.session(lambda _: 0.01)
    load = fake.load()
    with pytest.raises(RuntimeError, match="gone"):
        measure(a, [load], PLAN, clock=clock, watch=fake.watch, against=Against(b, (load,)))
    assert not a.paused
    assert not b.paused


def test_a_machine_that_stays_disturbed_is_compared_by_lower_quartiles(fake, clock) -> None:
    generator = np.random.default_rng(3)

    def crowded(base_s: float):
        return lambda _now_s: base_s * (1 + (generator.random() < 0.5) * generator.exponential(3.0))

    watch = fake.scripted_watch(*["steal"] * 1000)
    measured, _ = compare(fake, clock, crowded(0.0055), crowded(0.005), watch=watch)
    assert measured.ratios["latency_p50"].value == pytest.approx(1.1, abs=0.03)
    assert "lower quartile" in measured.ratios["latency_p50"].basis
    measured, _ = compare(fake, clock, crowded(0.0055), crowded(0.005), scenario="offline", watch=watch)
    assert measured.ratios["throughput"].value == pytest.approx(1 / 1.1, abs=0.03)


@pytest.mark.parametrize(("mine_s", "longer"), [(0.008, ("throughput", "energy")), (0.00025, ())])
def test_a_batch_beside_single_requests_is_told(fake, clock, mine_s: float, longer: tuple[str, ...]) -> None:
    """On a busy machine such a pair is not disturbed alike."""
    mine, theirs = fake.session(lambda _: mine_s), fake.session(lambda _: 0.00025)
    loads = fake.load("offline", 32), fake.load("offline", 1)
    measured = measure(mine, [loads[0]], PLAN, clock=clock, watch=fake.watch, against=Against(theirs, (loads[1],)))
    assert measured.longer == longer

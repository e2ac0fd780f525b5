from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from autotune.core.deployment import Batching
from autotune.core.limits import parse_limit
from autotune.core.serving import ClosedLoop, GiveUp, OpenLoop, Served
from autotune.measure.load_generator import serve
from autotune.measure.max_rate import LatencyBound, highest_rate, judge_load, latency_bounds, most_over
from autotune.measure.percentiles import least_samples
from autotune.measure.queue_model import capacity_per_s, service_times, simulate_queue
from autotune.measure.queue_theory import md1_response_s
from autotune.measure.saturation import kept_up, poisson
from autotune.measure.windows import percentile_intervals, windows

INPUTS = ({"x": np.ones((1, 2), dtype=np.float32)},)
ALONE = Batching(max_batch=1, delay_s=0.0)
PATIENT = GiveUp(longest_wait_s=30.0)


def answer(inputs):
    return {"y": inputs["x"]}


def fared(latency_s, **fields) -> Served:
    latency = np.asarray(latency_s, dtype=np.float64)
    arrivals = np.linspace(0, 10, len(latency))
    told = {"lag_s": np.zeros(len(latency)), "batch_rows": np.ones(1, dtype=np.int64), "busy_s": 5.0, "wall_s": 10.0}
    return Served(arrivals_s=arrivals, latency_s=latency, **(told | fields))


def queue_s(rate: float, service_s: float, count: int, seed: int = 3, **policy: float) -> np.ndarray:
    arrivals = poisson(rate, count / rate, seed)
    measured = {1: np.asarray([service_s])}
    batching = Batching(**({"max_batch": 1, "delay_s": 0.0} | policy))
    return simulate_queue(arrivals, service_times(measured, batching.max_batch), batching)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_the_simulated_queue_agrees_with_md1_theory(load: float) -> None:
    latency = queue_s(load / 0.005, 0.005, 150_000)
    for percentile in (50, 90, 99):
        theory = md1_response_s(percentile, load / 0.005, 0.005)
        assert np.quantile(latency, percentile / 100) == pytest.approx(theory, rel=0.03)


def test_a_request_whose_server_is_idle_waits_for_others_only_as_long_as_the_policy_says() -> None:
    service = service_times({1: np.asarray([0.001]), 2: np.asarray([0.001])}, 2)
    policy = Batching(max_batch=2, delay_s=0.01)
    alone = simulate_queue(np.asarray([0.0]), service, policy)
    paired = simulate_queue(np.asarray([0.0, 0.004]), service, policy)
    assert alone == pytest.approx([0.011])
    assert paired == pytest.approx([0.005, 0.001])


def test_more_instances_serve_more() -> None:
    assert queue_s(250, 0.005, 2000, instances=2).max() < 0.2 < queue_s(250, 0.005, 2000).max()
    service = service_times({1: np.asarray([0.005]), 4: np.asarray([0.008])}, 4)
    assert capacity_per_s(service, 2) == pytest.approx(1000)


def test_latency_counts_from_the_scheduled_arrival_though_the_server_stalls() -> None:
    stalled = threading.Event()

    def stalls_once(inputs):
        if not stalled.is_set():
            stalled.set()
            time.sleep(0.2)
        return {"y": inputs["x"]}

    served = serve([stalls_once], INPUTS, OpenLoop(np.arange(20) * 0.01, ALONE, PATIENT))
    assert served.latency_s[0] >= 0.2
    late = served.latency_s[:18] + served.arrivals_s[:18]
    assert (late >= 0.2).all()  # none of those that arrived meanwhile looks fast
    assert len(served.latency_s) == len(served.lag_s) == 20
    assert served.stopped is None


def test_an_answer_never_precedes_its_arrival_and_the_generators_lag_is_part_of_latency() -> None:
    served = serve([answer], INPUTS, OpenLoop(poisson(300, 0.3, 0), Batching(max_batch=4, delay_s=0.002), PATIENT))
    assert (served.lag_s >= 0).all()
    assert (served.latency_s >= served.lag_s).all()
    assert served.batch_rows.sum() == len(served.latency_s)
    assert 0 < served.utilisation < 1


def test_a_load_that_cannot_be_served_is_given_up_and_what_has_no_answer_waited_at_least_so_long() -> None:
    def slow(inputs):
        time.sleep(0.02)
        return {"y": inputs["x"]}

    served = serve([slow], INPUTS, OpenLoop(np.arange(5000) / 1000, ALONE, GiveUp(longest_wait_s=0.1)))
    assert served.stopped == "saturated"
    assert served.wall_s < 4
    assert served.unanswered > 0
    assert not kept_up(served)
    assert np.isfinite(served.latency_s).all()
    assert (served.latency_s >= 0).all()


def test_a_load_ends_as_soon_as_too_many_requests_are_over_the_bound() -> None:
    give_up = GiveUp(longest_wait_s=30, bound_s=1e-9, most_over=5)
    served = serve([answer], INPUTS, OpenLoop(np.arange(1000) / 500, ALONE, give_up))
    assert served.stopped == "over"
    assert len(served.latency_s) < 500


def test_what_the_queue_refuses_counts_as_dropped() -> None:
    def slow(inputs):
        time.sleep(0.05)
        return {"y": inputs["x"]}

    load = OpenLoop(np.arange(20) / 1000, ALONE, PATIENT, queue_limit=2)
    served = serve([slow], INPUTS, load)
    assert served.dropped == np.isinf(served.latency_s).sum() >= 15
    assert not kept_up(served)


def test_an_error_of_the_runtime_ends_the_load_and_is_raised() -> None:
    def fails(inputs):
        raise ValueError("node 7")

    with pytest.raises(ValueError, match="node 7"):
        serve([fails], INPUTS, OpenLoop(np.arange(1000) / 100, ALONE, PATIENT))
    with pytest.raises(ValueError, match="node 7"):
        serve([fails], INPUTS, ClosedLoop(2, 5.0))


def test_closed_loops_run_at_once_and_send_only_after_an_answer() -> None:
    inside, most = [], []

    def note(inputs):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.005)
        inside.pop()
        return {"y": inputs["x"]}

    served = serve([note], INPUTS, ClosedLoop(3, 0.2))
    assert 1 < max(most) <= 3
    assert served.instances == 3
    assert (np.diff(served.arrivals_s) >= 0).all()


def test_windows_cover_all_requests_and_the_percentile_rule_holds() -> None:
    generator = np.random.default_rng(0)
    served = fared(generator.exponential(0.01, 700))
    assert sum(len(span) for span in windows(served)) == 700
    found = percentile_intervals(served)
    assert set(found) == {50.0, 90.0, 99.0}
    assert all(one.low <= one.value <= one.high for one in found.values())
    assert set(percentile_intervals(fared(generator.exponential(0.01, least_samples(99) - 1)))) == {50.0, 90.0}


def test_intervals_are_wider_when_latencies_come_in_spells() -> None:
    generator = np.random.default_rng(1)
    independent = generator.exponential(0.01, 2000)
    wide, narrow = (
        percentile_intervals(fared(np.sort(independent)))[90.0],
        percentile_intervals(fared(independent))[90.0],
    )
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_a_percentile_among_dropped_requests_is_left_out() -> None:
    assert set(percentile_intervals(fared([0.01] * 600 + [np.inf] * 100))) == {50.0}


def test_the_same_bursts_meet_every_candidate_at_every_rate() -> None:
    slow, fast = poisson(10, 100, 5), poisson(20, 50, 5)
    assert slow[:500] == pytest.approx(2 * fast[:500])
    assert len(poisson(100, 100, 1)) == pytest.approx(10_000, rel=0.05)


def test_a_queue_that_grows_is_recognised_and_a_busy_one_that_does_not_is_not() -> None:
    assert not kept_up(fared(np.linspace(0.01, 1, 400), busy_s=9.99))
    assert kept_up(fared(np.full(400, 0.02), busy_s=9.99))
    assert kept_up(fared(np.linspace(0.01, 1, 400), busy_s=5.0))
    assert not kept_up(fared([0.1], stopped="saturated"))


BOUND = LatencyBound(99.0, 0.05)


def test_a_verdict_needs_as_many_requests_as_tell() -> None:
    assert judge_load(fared([0.01] * 3000), (BOUND,)) == "held"
    assert judge_load(fared([0.01] * 100), (BOUND,)) == "undecided"
    assert judge_load(fared([0.01] * 900 + [0.06] * 100), (BOUND,)) == "broken"
    assert judge_load(fared([0.01] * 3000, stopped="over"), (BOUND,)) == "broken"


def test_what_may_be_over_the_bound_is_more_than_the_percentile_allows() -> None:
    assert 10 < most_over(1000, BOUND) < 40


def test_only_upper_bounds_of_latency_are_held_against_a_load() -> None:
    limits = tuple(map(parse_limit, ("latency_p99<=50ms", "response_p90<=0.1s", "fidelity>=0.98", "memory<=1GB")))
    assert latency_bounds(limits) == (LatencyBound(99.0, 0.05), LatencyBound(90.0, 0.1))


@pytest.mark.parametrize("truth", [3.0, 97.0, 130.0, 4000.0])
def test_the_highest_rate_is_found_to_a_twentieth_from_any_guess(truth: float) -> None:
    probed: list[float] = []

    def probe(rate: float) -> str:
        probed.append(rate)
        return "held" if rate <= truth else "broken"

    found = highest_rate(probe, 100.0)
    assert found is not None
    assert found.low <= truth <= found.high <= found.low * 1.05 * 1.0001
    assert found.value == found.low
    assert len(probed) <= 24


def test_nothing_held_is_no_rate_and_time_ends_the_search_with_what_held() -> None:
    assert highest_rate(lambda rate: "broken", 100.0) is None
    found = highest_rate(lambda rate: "held", 100.0, lambda: True)
    assert found is not None
    assert (found.value, found.high) == (100.0, None)

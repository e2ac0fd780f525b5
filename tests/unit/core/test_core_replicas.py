from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.core.errors import MeasureError
from autotune.core.fleet import Fleet
from autotune.core.limits import parse_limit
from autotune.core.replicas import MOST_REPLICAS, fleet_metrics, sampled
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN, Workload

CHAT = BUILT_IN["chat"]


class Queue:
    """A replica whose first tokens take 0.1 s / (1 - load), and for ever from ``capacity`` requests a second on."""

    def __init__(self, capacity: float, doubt: float = 0.2) -> None:
        self.capacity, self.doubt = capacity, doubt
        self.asked: list[float] = []

    def __call__(self, workload: Workload) -> dict[str, Value]:
        rate = workload.serving.rate_per_s
        self.asked.append(rate)
        load = rate / self.capacity
        ttft_s = 0.1 / (1 - load) if load < 1 else 1e4 * load
        low, high = ttft_s * (1 - self.doubt), ttft_s * (1 + self.doubt)
        return {
            "ttft_p90": Value(value=ttft_s, low=low, high=high, unit="s", n=1000, provenance="simulated"),
            "request_rate": Value(value=min(rate, self.capacity), unit="1/s", provenance="simulated"),
            "device_count": Value(value=4.0, unit="1", provenance="simulated"),
            "cost_per_month": Value(value=1000.0, unit="USD", provenance="simulated"),
            "cost_per_million_tokens": Value(value=2.0, unit="USD", provenance="simulated"),
        }


@settings(max_examples=60, deadline=None)
@given(st.floats(0.5, 100), st.floats(1, 40), st.floats(0.15, 2))
def test_the_fleet_is_the_smallest_whose_pessimistic_end_holds_the_limit(
    rate: float, capacity: float, bound_s: float
) -> None:
    queue = Queue(capacity)
    metrics = fleet_metrics(Fleet(rate_per_s=rate), CHAT, [parse_limit(f"ttft_p90<={bound_s}s")], queue)
    replicas = metrics["device_count"].value / 4
    share = rate / replicas / capacity
    assert 1.2 * 0.1 / (1 - share) <= bound_s * (1 + 1e-9)
    if replicas > 1:
        fewer = rate / (replicas - 1) / capacity
        assert fewer >= 1 or 1.2 * 0.1 / (1 - fewer) > bound_s * (1 - 1e-9)


def test_without_limits_the_fleet_still_keeps_up_with_what_arrives() -> None:
    metrics = fleet_metrics(Fleet(rate_per_s=100), CHAT, [], Queue(10))
    assert 44 <= metrics["device_count"].value <= 48  # eleven or twelve replicas of four devices


def test_spare_replicas_cost_and_do_not_serve() -> None:
    plain = fleet_metrics(Fleet(rate_per_s=100), CHAT, [], Queue(10))
    spared = fleet_metrics(Fleet(rate_per_s=100, spare=2), CHAT, [], Queue(10))
    assert spared["device_count"].value == plain["device_count"].value + 8
    assert spared["cost_per_month"].value == plain["cost_per_month"].value + 2000
    assert spared["request_rate"].value == plain["request_rate"].value
    assert spared["cost_per_million_tokens"].value > plain["cost_per_million_tokens"].value


def test_a_limit_that_even_a_single_request_breaks_is_shown_with_what_breaks_it() -> None:
    metrics = fleet_metrics(Fleet(rate_per_s=100), CHAT, [parse_limit("ttft_p90<=50ms")], Queue(10))
    assert metrics["ttft_p90"].value > 0.05
    assert metrics["device_count"].value < 100


def test_a_rate_that_no_fleet_serves_is_a_failure() -> None:
    with pytest.raises(MeasureError, match=str(MOST_REPLICAS)):
        fleet_metrics(Fleet(rate_per_s=1e6), CHAT, [], Queue(0.1))


def test_a_workload_that_says_how_many_requests_keeps_them() -> None:
    phase = CHAT.serving
    tokens = phase.tokens.model_copy(update={"requests": 77})
    own = CHAT.model_copy(update={"phases": (phase.model_copy(update={"tokens": tokens}),)})
    assert sampled(own, 5.0).serving.tokens.requests == 77
    assert sampled(CHAT, 5.0).serving.tokens.requests == 600

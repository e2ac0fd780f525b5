"""What must hold of any server, whatever its policy and load."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.core.errors import MeasureError
from autotune.core.limits import parse_limit
from autotune.core.token_load import TokenCounts, TokenLoad
from autotune.core.workload import Phase, Workload
from autotune.testing.linear_costs import LinearCosts
from autotune_backends.simulated.serving import metrics
from autotune_backends.simulated.serving.policy import Policy
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.sending import requests_of
from autotune_backends.simulated.serving.simulate import serve

POLICIES = st.builds(
    Policy,
    batching=st.sampled_from(["continuous", "static", "dynamic"]),
    max_num_seqs=st.integers(1, 40),
    max_batched_tokens=st.integers(40, 600),
    chunked_prefill=st.booleans(),
    prefix_caching=st.booleans(),
    priority_scheduling=st.booleans(),
    preemption=st.sampled_from(["recompute", "swap"]),
)
COSTS = st.builds(
    LinearCosts,
    kv_capacity_tokens=st.integers(2100, 9000),
    page_tokens=st.sampled_from([1, 16, 48]),
    cached_s=st.sampled_from([0.0, 7e-8, 1e-5]),
    launch_s=st.just(0.00812345678),  # odd: where a step ends as somebody arrives, rounding decides who is first
    prompt_s=st.just(5.0123e-5),
    sequence_s=st.just(2.0357e-5),
    copied_s=st.sampled_from([0.0, 5e-6]),
    host_capacity_tokens=st.sampled_from([0, 700, 100_000]),
)
LOADS = st.builds(
    TokenLoad,
    input_tokens=st.sampled_from([TokenCounts(mean=90, p90=190), TokenCounts(mean=1, values=(3, 64, 150))]),
    output_tokens=st.sampled_from(
        [TokenCounts(mean=40, p90=80), TokenCounts(mean=1), TokenCounts(mean=1, values=(1, 9))]
    ),
    users=st.sampled_from([None, 1, 7, 30]),
    shared_prefix_tokens=st.sampled_from([0, 40]),
    turns=st.sampled_from([1, 3]),
    think_time_s=st.sampled_from([0.0, 0.7]),
    priorities=st.sampled_from([(), (0.2, 0.8)]),
    arrivals=st.sampled_from(["poisson", "steady", "bursty", "diurnal"]),
    requests=st.sampled_from([1, 90]),
    seed=st.integers(0, 5),
)


def workload(load: TokenLoad, rate_per_s: float = 8.0) -> Workload:
    return Workload(name="made", phases=(Phase(scenario="server", rate_per_s=rate_per_s, tokens=load),))


@settings(max_examples=120, deadline=None)
@given(costs=COSTS, policy=POLICIES, load=LOADS, rate=st.sampled_from([2.0, 9.0, 200.0]))
def test_runs_of_steps_equal_single_steps_and_physics_holds(
    costs: LinearCosts, policy: Policy, load: TokenLoad, rate: float
) -> None:
    requests = requests_of(workload(load, rate))
    fast, slow = serve(costs, policy, requests), serve(costs, policy, requests, stride=1)
    limits = [parse_limit("ttft_p90<=1s"), parse_limit("latency_p90<=4s")]
    quick, stepped = metrics(fast, limits), metrics(slow, limits)
    assert quick.keys() == stepped.keys()
    for name, value in quick.items():
        assert value.value == pytest.approx(stepped[name].value, rel=1e-3, abs=1e-12), name

    assert not np.isnan(fast.e2e_s).any()
    assert (fast.ttft_s > 0).all()
    assert (fast.e2e_s >= fast.ttft_s - 1e-9).all()
    assert 0 < quick["utilisation"].value <= 1
    counters = fast.counters
    assert counters.busy_s <= fast.span_s * (1 + 1e-9)
    assert counters.kv_used <= counters.kv_held
    # every token after a request's first is one gap, and a batch that is not held has no others
    assert fast.itl_weight.sum() == fast.output_tokens.sum() - len(requests)
    if policy.batching == "continuous":
        assert (fast.itl_s * fast.itl_weight).sum() == pytest.approx((fast.e2e_s - fast.ttft_s).sum(), abs=1e-6)
    if counters.preemptions == counters.swaps:
        computed = counters.prefill_tokens + counters.cached_tokens
        assert computed == fast.input_tokens.sum()


@given(tokens=st.integers(1, 2000), policy=POLICIES)
def test_alone_the_first_token_takes_the_bare_prefill(tokens: int, policy: Policy) -> None:
    costs = LinearCosts()
    whole = Policy(batching=policy.batching, max_batched_tokens=4096, chunked_prefill=policy.chunked_prefill)
    result = serve(costs, whole, Requests([3.0], [tokens], [5]))
    assert result.ttft_s[0] == pytest.approx(costs.step_s([(tokens, 0)], 0, 0))


def test_littles_law_holds_for_the_sequences_in_service() -> None:
    costs = LinearCosts()
    result = serve(costs, Policy(), requests_of(workload(TokenLoad(requests=4000), 20.0)))
    rate = len(result.e2e_s) / result.span_s
    waits = np.sort(np.concatenate([result.arrived_s, result.arrived_s + result.e2e_s]))
    steps = np.concatenate([np.ones(len(result.e2e_s)), -np.ones(len(result.e2e_s))])
    inside = np.cumsum(steps[np.argsort(np.concatenate([result.arrived_s, result.arrived_s + result.e2e_s]))])
    number = float(np.sum(inside[:-1] * np.diff(waits)) / (waits[-1] - waits[0]))
    assert number == pytest.approx(rate * result.e2e_s.mean(), rel=1e-6)
    decoding = float((result.itl_s * result.itl_weight).sum()) / result.span_s
    assert decoding == pytest.approx(rate * float((result.e2e_s - result.ttft_s).mean()), rel=1e-6)


def test_more_load_never_makes_the_first_token_faster() -> None:
    load = TokenLoad(
        input_tokens=TokenCounts(mean=1155, p90=1932), output_tokens=TokenCounts(mean=211, p90=460), requests=600
    )
    medians = [
        float(np.median(serve(LinearCosts(), Policy(), requests_of(workload(load, r))).ttft_s)) for r in (1, 4, 8, 16)
    ]
    assert medians == sorted(medians)


def test_a_request_longer_than_all_memory_is_out_of_memory() -> None:
    with pytest.raises(MeasureError, match="a request of 505 tokens does not fit") as raised:
        serve(LinearCosts(kv_capacity_tokens=500), Policy(), Requests([0.0], [500], [5]))
    assert raised.value.cause == "out_of_memory"


def test_where_memory_is_short_sequences_give_way_and_still_end() -> None:
    load = TokenLoad(input_tokens=TokenCounts(mean=300), output_tokens=TokenCounts(mean=300), users=20, requests=100)
    result = serve(LinearCosts(kv_capacity_tokens=3000), Policy(), requests_of(workload(load)))
    assert result.counters.preemptions > 0
    assert result.counters.prefill_tokens > result.input_tokens.sum()
    assert not np.isnan(result.e2e_s).any()


def test_smaller_pages_waste_less_memory() -> None:
    load = TokenLoad(
        input_tokens=TokenCounts(mean=300, p90=600), output_tokens=TokenCounts(mean=60, p90=100), requests=200
    )
    results = [serve(LinearCosts(page_tokens=page), Policy(), requests_of(workload(load))) for page in (1, 16, 64, 256)]
    wastes = [metrics(result)["kv_waste"].value for result in results]
    assert wastes[0] == 0
    assert wastes == sorted(wastes)


def test_continuous_batching_is_used_better_than_static() -> None:
    load = TokenLoad(input_tokens=TokenCounts(mean=200), output_tokens=TokenCounts(mean=150, p90=330), users=64)
    used = {
        batching: metrics(serve(LinearCosts(), Policy(batching=batching, max_num_seqs=16), requests_of(workload(load))))
        for batching in ("continuous", "static")
    }
    assert used["continuous"]["utilisation"].value > 0.9 > 0.6 > used["static"]["utilisation"].value
    assert used["continuous"]["output_throughput"].value > 1.5 * used["static"]["output_throughput"].value


def test_prompts_in_parts_keep_tokens_flowing() -> None:
    load = TokenLoad(input_tokens=TokenCounts(mean=4000), output_tokens=TokenCounts(mean=200), requests=60)

    def slowest(chunked: bool) -> float:
        policy = Policy(max_batched_tokens=512, chunked_prefill=chunked)
        return metrics(serve(LinearCosts(), policy, requests_of(workload(load, 1.5))))["itl_p99"].value or math.nan

    assert slowest(True) < 0.3 * slowest(False)


def test_a_long_conversation_answers_sooner_with_a_prefix_cache() -> None:
    load = TokenLoad(input_tokens=TokenCounts(mean=400), output_tokens=TokenCounts(mean=100), turns=6, requests=120)

    def median(caching: bool) -> float:
        result = serve(LinearCosts(), Policy(prefix_caching=caching), requests_of(workload(load, 0.2)))
        assert (result.counters.cached_tokens > 0) == caching
        return float(np.median(result.ttft_s))

    assert median(True) < 0.5 * median(False)


def test_shared_beginnings_are_held_once() -> None:
    load = TokenLoad(
        input_tokens=TokenCounts(mean=1000), output_tokens=TokenCounts(mean=20), shared_prefix_tokens=960, users=32
    )
    short = LinearCosts(kv_capacity_tokens=4000)
    with_cache = serve(short, Policy(), requests_of(workload(load)))
    without = serve(short, Policy(prefix_caching=False), requests_of(workload(load)))
    assert with_cache.span_s < 0.4 * without.span_s


@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("prefix_tokens", [10, 20, 300])
def test_a_request_that_shares_fewer_pages_than_are_held_borrows_none(prefix_tokens: int, chunked: bool) -> None:
    """The first leaves three pages of 16; the second shares none, one, or is no longer than what it shares."""
    costs = LinearCosts(kv_capacity_tokens=420, cached_s=0.0)
    requests = Requests(
        [0.0, 0.1], [60, 300], [200, 5], prefix=[0, 0], prefix_tokens=[48, prefix_tokens], conversation=[0, 1]
    )
    result = serve(costs, Policy(chunked_prefill=chunked), requests)
    assert result.counters.cached_tokens == (48 if prefix_tokens == 300 else 0)
    assert not np.isnan(result.e2e_s).any()


def test_those_who_go_first_wait_less() -> None:
    load = TokenLoad(output_tokens=TokenCounts(mean=200), requests=400, priorities=(0.2, 0.8))
    requests = requests_of(workload(load, 60.0))
    result = serve(LinearCosts(), Policy(max_num_seqs=16, priority_scheduling=True), requests)
    first = np.asarray(requests.priority) == 0
    assert np.median(result.ttft_s[first]) < 0.2 * np.median(result.ttft_s[~first])


def test_a_dynamic_batch_leaves_when_its_oldest_has_waited_enough() -> None:
    costs = LinearCosts()
    policy = Policy(batching="dynamic", batch_delay_s=0.5, max_num_seqs=8)
    result = serve(costs, policy, Requests([0.0, 0.1, 9.0], [10, 10, 10], [1, 1, 1]))
    assert result.ttft_s[0] == pytest.approx(0.5 + costs.step_s([(20, 0)], 0, 0))

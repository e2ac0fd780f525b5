"""Prompts computed by one group of devices, and decoding by another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.core.limits import parse_limit
from autotune.core.token_load import TokenCounts, TokenLoad
from autotune.core.workload import Phase, Workload
from autotune.testing.linear_costs import LinearCosts
from autotune_backends.simulated.serving import metrics
from autotune_backends.simulated.serving.pair import serve_pair
from autotune_backends.simulated.serving.policy import Policy
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.result import ServingResult
from autotune_backends.simulated.serving.sending import requests_of
from autotune_backends.simulated.serving.simulate import serve
from autotune_backends.simulated.serving.transfer import Link

POLICIES = st.builds(
    Policy,
    max_num_seqs=st.integers(1, 40),
    max_batched_tokens=st.integers(40, 600),
    chunked_prefill=st.booleans(),
    prefix_caching=st.booleans(),
    priority_scheduling=st.booleans(),
    preemption=st.sampled_from(["recompute", "swap"]),
)


def costs_of(launch_s: float, sequence_s: float) -> st.SearchStrategy[LinearCosts]:
    return st.builds(
        LinearCosts,
        kv_capacity_tokens=st.integers(2100, 9000),
        page_tokens=st.sampled_from([1, 16, 48]),
        cached_s=st.sampled_from([0.0, 1e-5]),
        launch_s=st.just(launch_s),
        sequence_s=st.just(sequence_s),
    )


# odd figures: where events of both servers fall on one moment, rounding decides which comes first
PAIRS = st.tuples(costs_of(0.00812345678, 2.0357e-5), costs_of(0.00776543211, 1.9731e-5))
LOADS = st.builds(
    TokenLoad,
    input_tokens=st.sampled_from([TokenCounts(mean=90, p90=190), TokenCounts(mean=1, values=(3, 64, 150))]),
    output_tokens=st.sampled_from([TokenCounts(mean=40, p90=80), TokenCounts(mean=1, values=(1, 9))]),
    users=st.sampled_from([None, 1, 7, 30]),
    shared_prefix_tokens=st.sampled_from([0, 40]),
    turns=st.sampled_from([1, 3]),
    think_time_s=st.sampled_from([0.0, 0.7]),
    priorities=st.sampled_from([(), (0.2, 0.8)]),
    requests=st.sampled_from([1, 90]),
    seed=st.integers(0, 5),
)


def workload(load: TokenLoad, rate_per_s: float = 8.0) -> Workload:
    return Workload(name="made", phases=(Phase(scenario="server", rate_per_s=rate_per_s, tokens=load),))


def served(requests: Requests, *, link: Link | None = None, costs: LinearCosts | None = None) -> ServingResult:
    used = costs or LinearCosts()
    return serve_pair((used, used), (Policy(), Policy()), requests, link or Link(0.0, 0.0))


@settings(max_examples=80, deadline=None)
@given(
    costs=PAIRS,
    policies=st.tuples(POLICIES, POLICIES),
    load=LOADS,
    rate=st.sampled_from([2.0, 200.0]),
)
def test_runs_of_steps_equal_single_steps_on_two_servers(
    costs: tuple[LinearCosts, LinearCosts], policies: tuple[Policy, Policy], load: TokenLoad, rate: float
) -> None:
    requests = requests_of(workload(load, rate))
    fast = serve_pair(costs, policies, requests, Link(1.2345678e-3, 2.3456e-6))
    slow = serve_pair(costs, policies, requests, Link(1.2345678e-3, 2.3456e-6), stride=1)
    limits = [parse_limit("ttft_p90<=1s")]
    quick, stepped = metrics(fast, limits), metrics(slow, limits)
    assert quick.keys() == stepped.keys()
    for name, value in quick.items():
        assert value.value == pytest.approx(stepped[name].value, rel=1e-3, abs=1e-12), name

    assert not np.isnan(fast.e2e_s).any()
    assert (fast.ttft_s > 0).all()
    assert (fast.e2e_s >= fast.ttft_s - 1e-9).all()
    assert 0 < quick["utilisation"].value <= 1
    assert fast.itl_weight.sum() == fast.output_tokens.sum() - len(requests)
    assert (fast.itl_s * fast.itl_weight).sum() == pytest.approx((fast.e2e_s - fast.ttft_s).sum(), abs=1e-6)


def test_whoever_waits_for_a_free_user_comes_in_the_order_of_answers_of_both_servers() -> None:
    lengths = TokenCounts(mean=1, values=(1, 9))
    load = TokenLoad(input_tokens=TokenCounts(mean=90, p90=190), output_tokens=lengths, users=7, requests=90)
    policy = Policy(max_num_seqs=1, max_batched_tokens=40, chunked_prefill=False)
    used = LinearCosts(cached_s=0.0)
    result = serve_pair((used, used), (policy, policy), requests_of(workload(load)), Link(1e-3, 2e-6))
    assert (np.diff(result.arrived_s) >= 0).all()


def test_alone_the_second_token_waits_for_the_cache_to_be_sent() -> None:
    costs = LinearCosts(cached_s=0.0)
    result = served(Requests([3.0], [1000], [3]), link=Link(0.5, 1e-3), costs=costs)
    step_s = costs.step_s([], 1, 0)
    assert result.ttft_s[0] == pytest.approx(costs.step_s([(1000, 0)], 0, 0))
    assert result.e2e_s[0] - result.ttft_s[0] == pytest.approx(0.5 + 1000 * 1e-3 + 2 * step_s)


def test_caches_are_sent_one_after_the_other() -> None:
    link = Link(0.1, 1e-3)
    assert [link.send(0.0, 100), link.send(0.05, 100), link.send(5.0, 100)] == pytest.approx([0.2, 0.3, 5.2])


def test_a_cache_that_arrives_does_not_wait_behind_a_prompt_that_finds_too_little_memory() -> None:
    """The second gives way after 50 steps, with 150 tokens to compute again, for which there is no room beside the first."""
    costs = LinearCosts(kv_capacity_tokens=300, page_tokens=1, cached_s=0.0)
    policy = Policy(chunked_prefill=False)
    requests = Requests([0.0, 0.0, 0.6], [100, 100, 20], [200, 200, 40])
    fast, slow = (
        serve_pair((costs, costs), (policy, policy), requests, Link(0.0, 0.0), stride=stride) for stride in (None, 1)
    )
    assert fast.groups[1].preemptions == 1
    assert fast.e2e_s == pytest.approx(slow.e2e_s)
    assert fast.e2e_s[2] < 0.5 < fast.e2e_s[0]


def test_a_request_of_one_token_never_reaches_the_decoding_server() -> None:
    result = served(Requests([0.0, 0.1], [50, 50], [1, 1]))
    assert result.groups[1].steps == 0
    assert not np.isnan(result.e2e_s).any()


def test_long_prompts_no_longer_hold_up_tokens() -> None:
    load = TokenLoad(input_tokens=TokenCounts(mean=4000), output_tokens=TokenCounts(mean=200), requests=60)
    requests = requests_of(workload(load, 1.5))
    together = metrics(serve(LinearCosts(), Policy(), requests))
    apart = metrics(served(requests))
    assert apart["itl_p99"].value < 0.3 * together["itl_p99"].value


def test_a_slower_link_never_makes_the_answer_earlier() -> None:
    requests = requests_of(workload(TokenLoad(requests=300), 20.0))
    ends = [float(np.median(served(requests, link=Link(1e-3, token_s)).e2e_s)) for token_s in (0.0, 1e-5, 1e-4)]
    assert ends == sorted(ends)
    assert ends[2] > ends[0]


def test_prompts_are_computed_by_the_first_and_tokens_made_by_the_second() -> None:
    requests = requests_of(workload(TokenLoad(requests=100), 5.0))
    prompts, decoding = served(requests).groups
    assert (prompts.prefill_tokens, prompts.decode_tokens) == (sum(requests.inputs), 0)
    assert (decoding.prefill_tokens, decoding.decode_tokens) == (0, sum(requests.outputs) - len(requests))

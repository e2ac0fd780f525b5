"""Sequences that give way by a copy to the host, instead of being computed again."""

from __future__ import annotations

import numpy as np
import pytest

from autotune.core.token_load import TokenCounts, TokenLoad
from autotune.core.workload import Phase, Workload
from autotune.testing.linear_costs import LinearCosts
from autotune_backends.simulated.serving.policy import Policy
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.sending import requests_of
from autotune_backends.simulated.serving.simulate import serve

SWAP = Policy(preemption="swap", chunked_prefill=False)
LOAD = TokenLoad(input_tokens=TokenCounts(mean=300), output_tokens=TokenCounts(mean=300), users=20, requests=100)


def requests() -> Requests:
    return requests_of(Workload(name="made", phases=(Phase(scenario="server", rate_per_s=8.0, tokens=LOAD),)))


def test_what_is_swapped_is_not_computed_again() -> None:
    result = serve(LinearCosts(kv_capacity_tokens=3000), SWAP, requests())
    assert result.counters.swaps == result.counters.preemptions > 0
    assert result.counters.prefill_tokens == result.input_tokens.sum()


def test_a_full_host_makes_the_rest_be_computed_again() -> None:
    result = serve(LinearCosts(kv_capacity_tokens=3000, host_capacity_tokens=500), SWAP, requests())
    assert 0 < result.counters.swaps < result.counters.preemptions
    assert result.counters.prefill_tokens > result.input_tokens.sum()
    assert not np.isnan(result.e2e_s).any()


def test_slower_copies_make_it_slower_and_free_ones_beat_computing_again() -> None:
    def span_s(copied_s: float, policy: Policy = SWAP) -> float:
        return serve(LinearCosts(kv_capacity_tokens=3000, copied_s=copied_s), policy, requests()).span_s

    assert span_s(0.0) < span_s(1e-5) < span_s(1e-3)
    assert span_s(0.0) < span_s(0.0, Policy(chunked_prefill=False))


def test_two_who_do_not_fit_together_take_turns_and_each_copy_is_waited_for() -> None:
    """Pages of one token: both hold 40 + made tokens of 100; the second goes when neither has room, and comes back at the end."""
    costs = LinearCosts(
        kv_capacity_tokens=100, page_tokens=1, cached_s=0.0, sequence_s=0.0, prompt_s=0.0, copied_s=1e-3
    )
    result = serve(costs, SWAP, Requests([0.0, 0.0], [40, 40], [21, 21]))
    assert result.counters.swaps == 1
    tokens = 50  # what it held when it went: 40 of its prompt and 10 of those made
    steps = 1 + 20 + 10  # the prompts', the first's, and what the second had left
    assert result.span_s == pytest.approx(steps * costs.launch_s + 2 * tokens * 1e-3)

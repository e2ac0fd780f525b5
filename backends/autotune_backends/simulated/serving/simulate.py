"""A candidate under a workload, in virtual time: on one server, or on one that computes prompts and one that decodes."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.core.candidate import Scalar
from autotune.core.errors import MeasureError
from autotune.core.workload import Workload
from autotune_backends.simulated.serving.costs import ServingCosts
from autotune_backends.simulated.serving.pair import serve_pair
from autotune_backends.simulated.serving.policy import Policy, policy_of
from autotune_backends.simulated.serving.recorder import Recorder
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.result import ServingResult
from autotune_backends.simulated.serving.sending import requests_of
from autotune_backends.simulated.serving.server import Server
from autotune_backends.simulated.serving.transfer import Link

__all__ = ["RequestTooLong", "serve", "simulate_pair", "simulate_serving"]


class RequestTooLong(MeasureError):
    """A request's context alone does not fit in the KV memory; ``tokens`` is the longest's length."""

    def __init__(self, tokens: int, room: int) -> None:
        super().__init__("out_of_memory", f"a request of {tokens} tokens does not fit in KV memory for {room} tokens")
        self.tokens = tokens


def simulate_serving(
    costs: ServingCosts, candidate: Mapping[str, Scalar], workload: Workload, seed: int = 0
) -> ServingResult:
    """Serve the workload's requests under the candidate's scheduling parameters (see ``policy``).

    The same arguments give the same result. Raises ``UserError`` for a workload or parameter that cannot be read, and
    ``RequestTooLong`` when a request's context alone does not fit in the KV memory.
    """
    return serve(costs, policy_of(candidate), requests_of(workload, seed))


def simulate_pair(
    costs: tuple[ServingCosts, ServingCosts],
    policies: tuple[Policy, Policy],
    workload: Workload,
    link: Link,
    weights: tuple[float, float],
    seed: int = 0,
) -> ServingResult:
    """Likewise on two servers, of which the first computes prompts. ``weights``: what share of all devices each has."""
    requests = requests_of(workload, seed)
    for cost in costs:
        _refuse_unfit(cost, requests)
    return serve_pair(costs, policies, requests, link, weights)


def serve(costs: ServingCosts, policy: Policy, requests: Requests, stride: int | None = None) -> ServingResult:
    """Serve these requests. ``stride`` bounds how many decode steps are taken at once: 1 is step by step, None no bound."""
    _refuse_unfit(costs, requests)
    recorder = Recorder(len(requests))
    server = Server(costs, policy, requests, recorder, stride)
    server.run()
    counters = server.sequences.counters
    counters.count_memory(costs.page_tokens)
    return recorder.result(requests, counters, (counters,))


def _refuse_unfit(costs: ServingCosts, requests: Requests) -> None:
    longest = max(map(int.__add__, requests.inputs, requests.outputs))
    room = costs.kv_capacity_tokens // costs.page_tokens * costs.page_tokens
    if longest > room:
        raise RequestTooLong(longest, max(0, room))

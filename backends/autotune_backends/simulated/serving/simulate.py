"""``simulate_serving``: a candidate under a workload, in virtual time."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.core.candidate import Scalar
from autotune.core.errors import MeasureError
from autotune.core.workload import Workload
from autotune_backends.simulated.serving.costs import ServingCosts
from autotune_backends.simulated.serving.policy import Policy, policy_of
from autotune_backends.simulated.serving.recorder import Recorder
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.result import ServingResult
from autotune_backends.simulated.serving.sending import requests_of
from autotune_backends.simulated.serving.server import Server

__all__ = ["serve", "simulate_serving"]


def simulate_serving(
    costs: ServingCosts, candidate: Mapping[str, Scalar], workload: Workload, seed: int = 0
) -> ServingResult:
    """Serve the workload's requests under the candidate's scheduling parameters (see ``policy``).

    The same arguments give the same result. Raises ``UserError`` for a workload or parameter that cannot be read, and
    ``MeasureError`` (out_of_memory) when a request's context alone does not fit in the KV memory.
    """
    return serve(costs, policy_of(candidate), requests_of(workload, seed))


def serve(costs: ServingCosts, policy: Policy, requests: Requests, stride: int | None = None) -> ServingResult:
    """Serve these requests. ``stride`` bounds how many decode steps are taken at once: 1 is step by step, None no bound."""
    _refuse_unfit(costs, requests)
    recorder = Recorder(len(requests))
    Server(costs, policy, requests, recorder, stride).run()
    return recorder.result(requests, costs.page_tokens)


def _refuse_unfit(costs: ServingCosts, requests: Requests) -> None:
    longest = max(map(int.__add__, requests.inputs, requests.outputs))
    room = costs.kv_capacity_tokens // costs.page_tokens * costs.page_tokens
    if longest > room:
        raise MeasureError(
            "out_of_memory", f"a request of {longest} tokens does not fit in KV memory for {max(0, room)} tokens"
        )

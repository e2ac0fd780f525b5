"""Two servers in one virtual time: one computes prompts, the other decodes (disaggregation).

Zhong et al., "DistServe", OSDI 2024, and Patel et al., "Splitwise", ISCA 2024. The first token comes from the prompt's server. A
cache is sent when its prompt is done, as a whole and one after the other, and its memory there is free from then on; until the
decoding server has room it waits in that server's host, at no cost. Preempted sequences are computed again where they decode.
"""

from __future__ import annotations

import math
from dataclasses import replace

from autotune_backends.simulated.serving.costs import ServingCosts
from autotune_backends.simulated.serving.policy import Policy
from autotune_backends.simulated.serving.recorder import Recorder
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.result import Counters, ServingResult
from autotune_backends.simulated.serving.returns import Kept
from autotune_backends.simulated.serving.server import Server
from autotune_backends.simulated.serving.transfer import Link

__all__ = ["serve_pair"]


def serve_pair(
    costs: tuple[ServingCosts, ServingCosts],
    policies: tuple[Policy, Policy],
    requests: Requests,
    link: Link,
    weights: tuple[float, float] = (1.0, 1.0),
    stride: int | None = None,
) -> ServingResult:
    """Serve these requests; of each pair, the first computes prompts. ``weights``: what share of all devices each has.

    Both batch continuously.
    """
    recorder = Recorder(len(requests))
    prefill = Server(costs[0], policies[0], requests, recorder, stride)
    decoding = replace(policies[1], prefix_caching=False)
    decode = Server(costs[1], decoding, requests, recorder, stride, arrivals=False)

    def hand_over(request: int, tokens: int, now_s: float) -> None:
        left = requests.outputs[request] - 1
        kept = Kept(request, tokens, left, last_s=now_s, swapped=False)
        decode.sequences.returns.send(link.send(now_s, tokens), kept)

    prefill.sequences.hand_over = hand_over
    decode.sequences.answered = prefill.sequences.queue.answered
    _run(prefill, decode)
    groups = (prefill.sequences.counters, decode.sequences.counters)
    for counters, cost in zip(groups, costs, strict=True):
        counters.count_memory(cost.page_tokens)
    return recorder.result(requests, _together(groups, weights), groups)


def _run(prefill: Server, decode: Server) -> None:
    """Whoever is behind takes the next step, so that nobody learns too late of what the other sends."""
    while True:
        prompt_s, decode_s = prefill.ready_s(), decode.ready_s()
        if decode_s <= prompt_s < math.inf or decode_s < prompt_s:
            decode.advance(prompt_s)
        elif prompt_s < math.inf:
            prefill.advance(decode_s)
        else:
            return


def _together(groups: tuple[Counters, Counters], weights: tuple[float, float]) -> Counters:
    """Sums; times are means by the groups' shares of the devices."""
    first, second = groups
    share = weights[0] / sum(weights)
    return Counters(
        busy_s=share * first.busy_s + (1 - share) * second.busy_s,
        useful_s=share * first.useful_s + (1 - share) * second.useful_s,
        steps=first.steps + second.steps,
        decode_steps=first.decode_steps + second.decode_steps,
        prefill_tokens=first.prefill_tokens + second.prefill_tokens,
        decode_tokens=first.decode_tokens + second.decode_tokens,
        cached_tokens=first.cached_tokens + second.cached_tokens,
        preemptions=first.preemptions + second.preemptions,
        swaps=first.swaps + second.swaps,
        kv_used=first.kv_used + second.kv_used,
        kv_held=first.kv_held + second.kv_held,
    )

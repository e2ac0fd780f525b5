"""How fast the serving simulator is, and that its runs of decode steps change nothing.

    python -m benchmarks.simulator_speed [--json] [--quick] [--seed N]

An hour of chat (1,155 tokens in and 211 out on average) at 6.5 requests a second, Llama-3-8B on one A100. CPU seconds of the
simulation alone, requests already drawn, the best of several; then the same hour step by step, every metric compared. Likewise
with prompts computed on a second A100. With ``--quick``, a quarter of an hour.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from autotune.core.limits import parse_limit
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN, Workload
from autotune_backends.simulated.devices import device_named
from autotune_backends.simulated.serving import ServingResult, metrics
from autotune_backends.simulated.serving.pair import serve_pair
from autotune_backends.simulated.serving.policy import Policy
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.sending import requests_of
from autotune_backends.simulated.serving.simulate import serve
from autotune_backends.simulated.serving.transfer import Link
from autotune_backends.simulated.step_costs import StepCosts, step_costs
from autotune_backends.simulated.transformers import model_named
from benchmarks.report import Figure, arguments, finish

FLOOR_PER_S = 20_000.0
SAME = 0.001
RATE_PER_S, DURATION_S, QUICK_S = 6.5, 3600.0, 900.0
REPEATS = 5
LIMITS = (parse_limit("ttft_p90<=1s"), parse_limit("tpot_p90<=50ms"))


def main() -> int:
    """Print the figures."""
    asked = arguments(__doc__)
    costs = step_costs(model_named("llama-3-8b"), device_named("a100-sxm"), {})
    requests = requests_of(_chat(QUICK_S if asked.quick else DURATION_S), asked.seed)
    seconds, result = _fastest(partial(serve, costs, Policy(), requests))
    stepped_s, stepped = _timed(partial(serve, costs, Policy(), requests, stride=1))
    name, difference = _largest_difference(metrics(result, LIMITS), metrics(stepped, LIMITS))
    speed = len(requests) / seconds
    pair_s, pair = _fastest(partial(_apart, costs, requests))
    _, stepped_pair = _timed(partial(_apart, costs, requests, stride=1))
    apart_name, apart = _largest_difference(metrics(pair, LIMITS), metrics(stepped_pair, LIMITS))
    return finish(
        "simulator_speed",
        [
            Figure("requests", float(len(requests))),
            Figure("simulated in a CPU second", speed, "requests", f">= {FLOOR_PER_S:,.0f}", speed >= FLOOR_PER_S),
            Figure("step by step", len(requests) / stepped_s, "requests a CPU second"),
            Figure("steps", float(result.counters.steps)),
            Figure(f"largest difference between both ({name})", difference, "", f"<= {SAME}", difference <= SAME),
            Figure("with prompts on a second device", len(requests) / pair_s, "requests a CPU second"),
            Figure(f"largest difference to single steps there ({apart_name})", apart, "", f"<= {SAME}", apart <= SAME),
        ],
        as_json=asked.json,
    )


def _chat(duration_s: float) -> Workload:
    chat = BUILT_IN["chat"].at_rate(RATE_PER_S)
    return chat.model_copy(update={"phases": (chat.phases[0].model_copy(update={"duration_s": duration_s}),)})


def _apart(costs: StepCosts, requests: Requests, stride: int | None = None) -> ServingResult:
    """Prompts on one device and decoding on another, joined at 25 GB/s."""
    link = Link(1e-3, costs.kv_bytes_per_token / 25e9)
    return serve_pair((costs, costs), (Policy(), Policy()), requests, link, stride=stride)


def _fastest(run: Callable[[], ServingResult]) -> tuple[float, ServingResult]:
    """CPU seconds of the fastest of several runs, and what they all give."""
    runs = [_timed(run) for _ in range(REPEATS)]
    return min(seconds for seconds, _ in runs), runs[0][1]


def _timed(run: Callable[[], ServingResult]) -> tuple[float, ServingResult]:
    began = time.process_time()
    result = run()
    return time.process_time() - began, result


def _largest_difference(ours: dict[str, Value], theirs: dict[str, Value]) -> tuple[str, float]:
    """The metric that differs most, relative to its value step by step."""
    differences = {
        name: abs(value.value - other.value) / abs(other.value) if other.value else abs(value.value)
        for name, value in ours.items()
        if value.value is not None and (other := theirs[name]).value is not None
    }
    name = max(differences, key=lambda name: differences[name])
    return name, differences[name]


if __name__ == "__main__":
    raise SystemExit(main())

"""MLPerf's server scenario, simulated: the largest rate of Llama-2-70B on eight H100 whose 99th percentiles hold both limits.

MLPerf Inference v4.1, closed division, NVIDIA, DGX H100, TensorRT-LLM in FP8: the first token within 2 s and 200 ms a token,
both at p99, arrivals as in a Poisson process. A sample has 290.3 output tokens on average (its offline result: 24,524.9
tokens/s of 84.4792 samples/s); both lengths are 1,024 at most. How long prompts are is not in the results: the length is
taken at which the simulated offline scenario, all samples at once, gives the offline result. The server figure is then
predicted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from autotune_backends.simulated.devices import device_named
from autotune_backends.simulated.serving.policy import policy_of
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.result import ServingResult
from autotune_backends.simulated.serving.simulate import serve
from autotune_backends.simulated.step_costs import StepCosts, step_costs
from autotune_backends.simulated.transformers import model_named

__all__ = ["MEASURED_TOKENS_S", "offline_input", "server_rate"]

MEASURED_TOKENS_S = 21_605.8
_OFFLINE_TOKENS_S = 24_524.9
_OUTPUT, _LONGEST = 290.3, 1024
_DEVICES = 8
_TTFT_S, _TPOT_S, _AT = 2.0, 0.2, 99
_REQUESTS = 270_336  # that the benchmark asks for, to all replicas
_MINUTES_S = 600.0  # that a run of the offline scenario takes at least
_SEQUENCES = (512, 1024)  # in a batch at most
_WIDE = 0.8  # standard deviation of the logarithm of both lengths: a tenth of the answers reaches the bound
_BEYOND = 160.0  # requests a second
_LENGTH_WITHIN = 8
_STEPS = 7  # halvings of the range of rates


def offline_input(tp: int, seed: int = 0) -> int:
    """Mean tokens of a prompt, so that the offline scenario on replicas of ``tp`` devices is as fast as it was."""
    samples = round(_OFFLINE_TOKENS_S / _OUTPUT * _MINUTES_S * tp / _DEVICES)
    low, high = 1, _LONGEST // 2
    while high - low > _LENGTH_WITHIN:
        middle = (low + high) // 2
        requests = _requests(middle, math.inf, seed, samples)
        faster = max(_offline(tp, sequences, requests) for sequences in _SEQUENCES) > _OFFLINE_TOKENS_S
        low, high = (middle, high) if faster else (low, middle)
    return (low + high) // 2


def _offline(tp: int, sequences: int, requests: Requests) -> float:
    """Tokens a second of all replicas."""
    candidate = _candidate(tp, sequences)
    result = serve(_costs(candidate), policy_of(candidate), requests)
    return float(result.output_tokens.sum()) / result.span_s * (_DEVICES // tp)


def server_rate(tp: int, input_tokens: int, seed: int = 0) -> float:
    """The most tokens a second of all eight devices within the limits."""
    return max(_most(tp, input_tokens, sequences, seed) for sequences in _SEQUENCES)


def _candidate(tp: int, sequences: int) -> dict[str, str | int | bool]:
    return {
        "precision": "fp8",
        "kv_precision": "fp8",
        "engine": "trtllm",
        "tp": tp,
        "max_num_seqs": sequences,
        "max_batched_tokens": 8192,
    }


def _costs(candidate: Mapping[str, str | int | bool]) -> StepCosts:
    return step_costs(model_named("llama-2-70b"), device_named("h100-sxm"), candidate)


def _most(tp: int, input_tokens: int, sequences: int, seed: int) -> float:
    """Of all replicas together, by halving a range whose upper end no such devices could serve."""
    candidate = _candidate(tp, sequences)
    costs, policy = _costs(candidate), policy_of(candidate)
    low, high, count = 0.0, _BEYOND * tp / _DEVICES, round(_REQUESTS * tp / _DEVICES)
    for _ in range(_STEPS):
        rate = (low + high) / 2
        if _holds(serve(costs, policy, _requests(input_tokens, rate, seed, count))):
            low = rate
        else:
            high = rate
    return low * (_DEVICES // tp) * _OUTPUT


def _requests(input_tokens: int, rate: float, seed: int, count: int) -> Requests:
    generator = np.random.default_rng(seed)
    return Requests(
        arrived_s=np.cumsum(generator.exponential(1.0, count) / rate).tolist(),
        inputs=_lengths(float(input_tokens), count, generator),
        outputs=_lengths(_OUTPUT, count, generator),
    )


def _lengths(mean: float, count: int, generator: np.random.Generator) -> list[int]:
    """Log-normal, cut at the bound, and scaled so that the mean is as published."""
    drawn = np.exp(_WIDE * generator.standard_normal(count) - _WIDE**2 / 2)
    scale = mean
    for _ in range(20):
        scale *= mean / float(np.clip(drawn * scale, 1, _LONGEST).mean())
    return [int(length) for length in np.clip(np.rint(drawn * scale), 1, _LONGEST)]


def _holds(result: ServingResult) -> bool:
    first, each = np.percentile(result.ttft_s, _AT), np.percentile(result.tpot_s, _AT)
    return bool(math.isfinite(first) and first <= _TTFT_S and each <= _TPOT_S)

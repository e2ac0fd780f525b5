"""MLPerf Inference v4.1, Llama-2-70B in FP8 on eight devices, simulated: the offline and the server scenario.

``reference/mlperf_llama2_70b.csv`` has what was submitted: how many devices a replica has, the sequences that an engine takes at
once, how long the runs were, and what came out. The server scenario asks for the largest rate of a Poisson process at which
the 99th percentiles hold 2 s to the first token and 200 ms a token. Both lengths of a sample are 1,024 at most.

How long answers are follows from the server runs: beyond the first token a request takes as long as it has tokens, so that the
percentiles of its latency are those of the answer's length: a log-normal whose logarithm deviates by 0.57. How long prompts are
is in no result: the mean is taken at which H100's simulated offline scenario gives its result. All else is predicted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from autotune.core.candidate import Scalar
from autotune_backends.simulated.devices import SimulatedDevice, device_named
from autotune_backends.simulated.screen import closed_loop
from autotune_backends.simulated.serving.policy import policy_of
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.result import ServingResult
from autotune_backends.simulated.serving.simulate import serve
from autotune_backends.simulated.step_costs import StepCosts, step_costs
from autotune_backends.simulated.transformers import model_named
from benchmarks.simulator_rows import rows

__all__ = ["Submission", "mean_prompt", "offline_rate", "server_rate", "submissions", "throughput_in_flight"]

_OUTPUT, _LONGEST = 290.3, 1024  # tokens: 24,524.9 tokens/s of 84.4792 samples/s offline
_OUTPUT_SPREAD = (
    0.57  # ln(p90 / p50) / 1.28, ln(p95 / p50) / 1.64 and ln(p99 / p50) / 2.33 are 0.56 to 0.58 on all machines
)
_INPUT_SPREAD = 0.8  # judgement
_DEVICES = 8
_TTFT_S, _TPOT_S, _AT = 2.0, 0.2, 99
_FREE_SHARE = 0.9  # of the memory that weights leave is the KV cache's: the submissions' kvcache_free_gpu_mem_frac
_BATCHED_TOKENS = 8192
_LENGTH_WITHIN = 8
_STEPS = 7  # halvings of the range of rates


@dataclass(frozen=True, slots=True)
class Submission:
    """One machine of eight devices, in replicas of ``tp``. Rates are in tokens a second of the whole machine.

    ``…_seqs``: at once in a replica, None: not published. ``in_flight``: requests in a replica on average while it served.
    """

    device: SimulatedDevice
    engine: str
    tp: int
    offline_seqs: int | None
    offline_samples: int
    offline_tokens_s: float
    server_seqs: int | None
    server_s: float
    server_tokens_s: float
    in_flight: float

    @property
    def replicas(self) -> int:
        """Each has an even share of the requests."""
        return _DEVICES // self.tp

    def candidate(self, sequences: int) -> dict[str, Scalar]:
        """Its engine's settings, with the weights' size known."""
        plain: dict[str, Scalar] = {
            "precision": "fp8",
            "kv_precision": "fp8",
            "engine": self.engine,
            "tp": self.tp,
            "max_num_seqs": sequences,
            "max_batched_tokens": _BATCHED_TOKENS,
        }
        weights = self._costs(plain).weight_bytes / self.tp
        return {**plain, "memory_share": 1 - (1 - _FREE_SHARE) * (1 - weights / self.device.memory_bytes)}

    def costs(self, sequences: int) -> StepCosts:
        """Of one replica."""
        return self._costs(self.candidate(sequences))

    def _costs(self, candidate: dict[str, Scalar]) -> StepCosts:
        return step_costs(model_named("llama-2-70b"), self.device, candidate)


@cache
def submissions() -> dict[str, Submission]:
    """By device, as in the reference."""
    return {row["system"]: _submission(row) for row in rows("mlperf_llama2_70b.csv")}


def _submission(row: dict[str, str]) -> Submission:
    tp = int(row["tp"])
    return Submission(
        device=device_named(row["system"]),
        engine=row["engine"],
        tp=tp,
        offline_seqs=int(row["offline_seqs"]) if row["offline_seqs"] else None,
        offline_samples=int(row["offline_samples"]),
        offline_tokens_s=float(row["offline_tokens_s"]),
        server_seqs=int(row["server_seqs"]) if row["server_seqs"] else None,
        server_s=float(row["server_seconds"]),
        server_tokens_s=float(row["server_tokens_s"]),
        in_flight=float(row["server_per_s"]) * float(row["latency_mean_s"]) * tp / _DEVICES,
    )


def mean_prompt(one: Submission, seed: int = 0) -> int:
    """Tokens, so that the offline scenario is as fast as it was."""
    low, high = 1, _LONGEST // 2
    while high - low > _LENGTH_WITHIN:
        middle = (low + high) // 2
        faster = offline_rate(one, middle, seed) > one.offline_tokens_s
        low, high = (middle, high) if faster else (low, middle)
    return (low + high) // 2


def offline_rate(one: Submission, prompt: int, seed: int = 0) -> float:
    """Tokens a second when all samples are there at once; the submission's sequences must be known."""
    assert one.offline_seqs is not None
    requests = _requests(prompt, math.inf, seed, one.offline_samples // one.replicas)
    result = _served(one, one.offline_seqs, requests)
    return float(result.output_tokens.sum()) / result.span_s * one.replicas


def server_rate(one: Submission, prompt: int, seed: int = 0) -> float:
    """The most tokens a second within the limits, by halving a range whose upper end is twice the offline result."""
    assert one.server_seqs is not None
    low, high = 0.0, 2 * one.offline_tokens_s / _OUTPUT / one.replicas
    for _ in range(_STEPS):
        rate = (low + high) / 2
        requests = _requests(prompt, rate, seed, round(rate * one.server_s))
        low, high = (rate, high) if _holds(_served(one, one.server_seqs, requests)) else (low, rate)
    return low * one.replicas * _OUTPUT


def throughput_in_flight(one: Submission, prompt: int) -> float:
    """Tokens a second with as many requests in flight as there were in the server scenario: what steps take, and no queue."""
    users = round(one.in_flight)
    loop = closed_loop(one.costs(users), users, prompt, round(_OUTPUT), max_num_seqs=users)
    return loop.output_throughput * one.replicas


def _served(one: Submission, sequences: int, requests: Requests) -> ServingResult:
    return serve(one.costs(sequences), policy_of(one.candidate(sequences)), requests)


def _requests(prompt: int, rate: float, seed: int, count: int) -> Requests:
    generator = np.random.default_rng(seed)
    return Requests(
        arrived_s=np.cumsum(generator.exponential(1.0, count) / rate).tolist(),
        inputs=_lengths(float(prompt), _INPUT_SPREAD, count, generator),
        outputs=_lengths(_OUTPUT, _OUTPUT_SPREAD, count, generator),
    )


def _lengths(mean: float, spread: float, count: int, generator: np.random.Generator) -> list[int]:
    """Log-normal, cut at the bound, and scaled so that the mean is as published."""
    drawn = np.exp(spread * generator.standard_normal(count) - spread**2 / 2)
    scale = mean
    for _ in range(20):
        scale *= mean / float(np.clip(drawn * scale, 1, _LONGEST).mean())
    return [int(length) for length in np.clip(np.rint(drawn * scale), 1, _LONGEST)]


def _holds(result: ServingResult) -> bool:
    first, each = np.percentile(result.ttft_s, _AT), np.percentile(result.tpot_s, _AT)
    return bool(math.isfinite(first) and first <= _TTFT_S and each <= _TPOT_S)

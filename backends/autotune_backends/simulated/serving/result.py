"""What a simulated server did, request by request: raw, before any percentile."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Counters", "ServingResult", "Times"]

Times = NDArray[np.float64]


@dataclass(slots=True)
class Counters:
    """Sums over the whole simulation; times in virtual seconds.

    ``busy_s`` is when the device ran steps. ``useful_s`` weighs each step by the share of the batch's slots that held an
    unfinished request. ``steps`` were run, of which ``decode_steps`` without any prompt. ``prefill_tokens`` were computed
    (again, where a sequence was preempted), ``cached_tokens`` found in the prefix cache. ``kv_used`` and ``kv_held`` sum, over
    decode steps and sequences, the tokens that lay in KV memory and those that its pages could hold.
    ``energy_j`` None: the device's power is unknown.
    """

    busy_s: float = 0.0
    useful_s: float = 0.0
    steps: int = 0
    decode_steps: int = 0
    prefill_tokens: int = 0
    decode_tokens: int = 0
    cached_tokens: int = 0
    preemptions: int = 0
    kv_used: float = 0.0
    kv_held: float = 0.0
    energy_j: float | None = None


@dataclass(frozen=True, slots=True)
class ServingResult:
    """One array entry a request, shape ``[requests]``, in order of the workload; times in seconds.

    ``arrived_s`` is when it was sent, ``ttft_s`` from then to its first token, ``e2e_s`` to its last. ``itl_s`` are the gaps
    between tokens and ``itl_weight`` how many tokens had each (decode steps are shared by their whole batch).
    ``span_s`` is from the first arrival to the last token, ``devices`` how many served.
    """

    arrived_s: Times
    ttft_s: Times
    e2e_s: Times
    input_tokens: NDArray[np.int64]
    output_tokens: NDArray[np.int64]
    itl_s: Times
    itl_weight: Times
    span_s: float
    devices: int = 1
    counters: Counters = field(default_factory=Counters)

    @property
    def tpot_s(self) -> Times:
        """Mean seconds per output token after the first, shape ``[requests with more than one]``."""
        several = self.output_tokens > 1
        return (self.e2e_s[several] - self.ttft_s[several]) / (self.output_tokens[several] - 1)

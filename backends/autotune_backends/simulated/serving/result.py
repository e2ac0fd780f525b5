"""What a simulated server did, request by request: raw, before any percentile."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Counters", "ServingResult", "Times"]

_MOMENT_S = 1e-9  # shorter than any step
Times = NDArray[np.float64]


@dataclass(slots=True)
class Counters:
    """Sums over the whole simulation; times in virtual seconds.

    ``busy_s`` is when the device ran steps. ``useful_s`` weighs each step by the share of the batch's slots that held an
    unfinished request. ``steps`` were run, of which ``decode_steps`` without any prompt. ``prefill_tokens`` were computed
    (again, where a sequence was preempted), ``cached_tokens`` found in the prefix cache. Of ``preemptions``, ``swaps`` went to
    the host. ``kv_used`` and ``kv_held`` sum, over decode steps and sequences, the tokens that lay in KV memory and those that
    its pages could hold; both from ``stays``, the tokens of each stay in KV memory at its begin and end.
    """

    busy_s: float = 0.0
    useful_s: float = 0.0
    steps: int = 0
    decode_steps: int = 0
    prefill_tokens: int = 0
    decode_tokens: int = 0
    cached_tokens: int = 0
    preemptions: int = 0
    swaps: int = 0
    kv_used: float = 0.0
    kv_held: float = 0.0
    stays: list[tuple[int, int]] = field(default_factory=list)

    def count_memory(self, page_tokens: int) -> None:
        """Sum tokens and room over each step of each stay: the step from n to n + 1 tokens needs room for n + 1."""
        if not self.stays:
            return
        begin, end = np.asarray(self.stays, dtype=np.int64).T
        self.kv_used = float(np.sum(end * (end + 1) - begin * (begin + 1)) / 2)
        self.kv_held = float(np.sum(_pages_up_to(end, page_tokens) - _pages_up_to(begin, page_tokens))) * page_tokens


def _pages_up_to(tokens: NDArray[np.int64], page: int) -> NDArray[np.int64]:
    """The sum of ceil(n / page) for n = 1 … tokens."""
    whole, rest = np.divmod(tokens, page)
    summed: NDArray[np.int64] = page * whole * (whole + 1) // 2 + rest * (whole + 1)
    return summed


@dataclass(frozen=True, slots=True)
class ServingResult:
    """One array entry a request, shape ``[requests]``, in order of the workload; times in seconds.

    ``arrived_s`` is when it was sent, ``ttft_s`` from then to its first token, ``e2e_s`` to its last. ``itl_s`` are the gaps
    between tokens and ``itl_weight`` how many tokens had each (decode steps are shared by their whole batch).
    ``span_s`` is from the first arrival to the last token; ``window_s`` from then to when rates are counted: the same in an
    open loop, and until a closed loop's last request was sent, since users are missing from then on. ``groups``: the counters
    of each group of devices: of one, or of those that compute prompts and those that decode; ``counters`` of all together.
    """

    arrived_s: Times
    ttft_s: Times
    e2e_s: Times
    input_tokens: NDArray[np.int64]
    output_tokens: NDArray[np.int64]
    itl_s: Times
    itl_weight: Times
    span_s: float
    window_s: float
    counters: Counters = field(default_factory=Counters)
    groups: tuple[Counters, ...] = ()

    @property
    def tpot_s(self) -> Times:
        """Mean seconds per output token after the first, shape ``[requests with more than one]``."""
        several = self.output_tokens > 1
        return (self.e2e_s[several] - self.ttft_s[several]) / (self.output_tokens[several] - 1)

    def in_window(self) -> tuple[float, float]:
        """(tokens made, requests answered) within the window; a request's tokens after the first come evenly."""
        end_s = self.arrived_s.min() + self.window_s + _MOMENT_S
        first_s, ended_s = self.arrived_s + self.ttft_s, self.arrived_s + self.e2e_s
        lasting_s = np.maximum(ended_s - first_s, _MOMENT_S)
        shares = np.clip((end_s - first_s) / lasting_s, 0.0, 1.0)
        tokens = np.sum((first_s <= end_s) + (self.output_tokens - 1) * shares)
        return float(tokens), float(np.sum(ended_s <= end_s))

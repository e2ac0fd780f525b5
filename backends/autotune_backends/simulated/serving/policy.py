"""How a server schedules: the parameters of a candidate that the serving simulator knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from autotune.core.candidate import Scalar
from autotune.core.errors import UserError, nearest

__all__ = ["Batching", "Policy", "Preempting", "policy_of"]

Batching = Literal["continuous", "dynamic", "static"]
Preempting = Literal["recompute", "swap"]

DEFAULT_SEQUENCES = 256  # vLLM's v1 defaults for an API server, of max_num_seqs and max_num_batched_tokens
DEFAULT_BATCHED_TOKENS = 8192


@dataclass(frozen=True, slots=True)
class Policy:
    """``batching``: ``continuous`` forms a batch anew for every step (iteration-level scheduling, Yu et al., "Orca",
    OSDI 2022); ``static`` waits for ``max_num_seqs`` requests or the end of them, and holds the batch until its last request
    ended; ``dynamic`` does so, but waits for at most ``batch_delay_s`` after the oldest request's arrival.

    A step computes at most ``max_batched_tokens`` tokens of at most ``max_num_seqs`` sequences. With ``chunked_prefill`` a
    long prompt is split and shares steps with decoding sequences; without it, prompts run whole, in steps of their own, first.
    Where the KV memory is full, the youngest sequence gives up its pages: ``recompute`` computes them again later, ``swap``
    copies them to the host and back while a step waits, before others start (Kwon et al., "PagedAttention", SOSP 2023, 4.5).
    ``prefix_caching`` keeps pages of prompts that may come again. ``priority_scheduling`` serves
    lower priorities first instead of in order of arrival.
    """

    batching: Batching = "continuous"
    max_num_seqs: int = DEFAULT_SEQUENCES
    max_batched_tokens: int = DEFAULT_BATCHED_TOKENS
    chunked_prefill: bool = True
    batch_delay_s: float = 0.05
    prefix_caching: bool = True
    priority_scheduling: bool = False
    preemption: Preempting = "recompute"

    @property
    def mixes(self) -> bool:
        """Whether prompts are computed in parts, beside sequences that decode."""
        return self.chunked_prefill and self.batching == "continuous"


def policy_of(candidate: Mapping[str, Scalar]) -> Policy:
    """Read the scheduling parameters of a candidate; absent ones are vLLM's defaults. Raises ``UserError``."""
    default = Policy()
    return Policy(
        batching=cast("Batching", _choice(candidate, "batching", get_args(Batching), default.batching)),
        max_num_seqs=_count(candidate, "max_num_seqs", default.max_num_seqs),
        max_batched_tokens=_count(candidate, "max_batched_tokens", default.max_batched_tokens),
        chunked_prefill=_flag(candidate, "chunked_prefill", default.chunked_prefill),
        batch_delay_s=_seconds(candidate, "batch_delay_s", default.batch_delay_s),
        prefix_caching=_flag(candidate, "prefix_caching", default.prefix_caching),
        priority_scheduling=_flag(candidate, "priority_scheduling", default.priority_scheduling),
        preemption=cast("Preempting", _choice(candidate, "preemption", get_args(Preempting), default.preemption)),
    )


def _choice(candidate: Mapping[str, Scalar], name: str, known: tuple[str, ...], default: str) -> str:
    value = candidate.get(name, default)
    if value not in known:
        raise UserError(f"{name}={value}: no such value{nearest(str(value), known)}", f"known: {', '.join(known)}")
    return str(value)


def _count(candidate: Mapping[str, Scalar], name: str, default: int) -> int:
    value = candidate.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1 or value != int(value):
        raise UserError(f"{name}={value} is no count", "give a whole number of 1 or more")
    return int(value)


def _flag(candidate: Mapping[str, Scalar], name: str, default: bool) -> bool:
    value = candidate.get(name, default)
    if not isinstance(value, bool):
        raise UserError(f"{name}={value} is neither true nor false", "write true or false")
    return value


def _seconds(candidate: Mapping[str, Scalar], name: str, default: float) -> float:
    value = candidate.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise UserError(f"{name}={value} is no time", "give seconds, 0 or more")
    return float(value)

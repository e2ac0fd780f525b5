"""A fake for the serving simulator: a model whose steps cost a fixed time, and so much a token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["LinearCosts"]


@dataclass(frozen=True)
class LinearCosts:
    """``launch_s`` a step, ``prompt_s`` a prompt's token, ``sequence_s`` a decoding sequence, ``cached_s`` a token read,
    ``copied_s`` a token copied to the host or back, which has room for ``host_capacity_tokens``.
    """

    kv_capacity_tokens: int = 400_000
    page_tokens: int = 16
    launch_s: float = 0.008
    prompt_s: float = 5e-5
    sequence_s: float = 2e-5
    cached_s: float = 7e-8
    copied_s: float = 5e-6
    host_capacity_tokens: int = 100_000

    def swap_s(self, tokens: int) -> float:
        """Seconds of a copy."""
        return tokens * self.copied_s

    def step_s(self, prefill: Sequence[tuple[int, int]], decodes: int, kv_tokens: int) -> float:
        """Seconds of a step."""
        prompts = sum(new * self.prompt_s + cached * self.cached_s for new, cached in prefill)
        return self.launch_s + prompts + decodes * self.sequence_s + kv_tokens * self.cached_s

    def decode_line(self, decodes: int) -> tuple[float, float]:
        """(a, b): a step of nothing but decoding takes a + b * KV tokens."""
        return self.launch_s + decodes * self.sequence_s, self.cached_s

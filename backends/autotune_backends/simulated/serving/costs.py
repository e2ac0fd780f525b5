"""What the serving simulator asks of a model on a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["ServingCosts"]


class ServingCosts(Protocol):
    """Seconds of one step of the model, and the room for its KV cache, for one candidate on one group of devices.

    ``kv_capacity_tokens`` is what all KV pages together hold, each of ``page_tokens``.
    """

    @property
    def kv_capacity_tokens(self) -> int:
        """Tokens."""
        ...

    @property
    def page_tokens(self) -> int:
        """Tokens."""
        ...

    @property
    def host_capacity_tokens(self) -> int:
        """Tokens whose caches the host's memory holds for swapped sequences."""
        ...

    def swap_s(self, tokens: int) -> float:
        """Seconds in which the caches of so many tokens are copied to the host, or back."""
        ...

    def step_s(self, prefill: Sequence[tuple[int, int]], decodes: int, kv_tokens: int) -> float:
        """Seconds of a step that computes ``prefill``'s (new tokens, tokens cached before them), and one token of each of
        ``decodes`` sequences whose KV caches hold ``kv_tokens`` together.
        """
        ...

    def decode_line(self, decodes: int) -> tuple[float, float]:
        """(a, b): a step of nothing but ``decodes`` takes ``a + b * kv_tokens`` seconds."""
        ...

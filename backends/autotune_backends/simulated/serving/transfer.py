"""KV caches on their way from the devices that computed prompts to those that decode."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Link"]


@dataclass(slots=True)
class Link:
    """One cache after the other: ``token_s`` a token, and ``latency_s`` until the last byte is there. ``free_s``: when the link
    has sent all that was given to it.
    """

    latency_s: float
    token_s: float
    free_s: float = 0.0

    def send(self, now_s: float, tokens: int) -> float:
        """Send the caches of so many tokens; return when they have arrived."""
        self.free_s = max(now_s, self.free_s) + tokens * self.token_s
        return self.free_s + self.latency_s

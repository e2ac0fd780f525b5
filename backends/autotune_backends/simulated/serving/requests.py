"""The requests of a simulation, as plain lists: they are read one by one in the hot loop."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Requests"]


@dataclass(slots=True)
class Requests:
    """One entry a request. ``arrived_s``: seconds from the start, NaN where another's answer decides.

    ``follower``: the request that is sent ``think_s`` after this one's answer, -1: none. ``pool``: requests that wait for a
    user of the closed loop, in order; each request that ends without a follower sends the next of them.
    ``prefix``: which text the first ``prefix_tokens`` of the input are, -1: its own. ``conversation``: -1: none.
    """

    arrived_s: list[float]
    inputs: list[int]
    outputs: list[int]
    prefix: list[int] = field(default_factory=list)
    prefix_tokens: list[int] = field(default_factory=list)
    priority: list[int] = field(default_factory=list)
    conversation: list[int] = field(default_factory=list)
    follower: list[int] = field(default_factory=list)
    pool: list[int] = field(default_factory=list)
    think_s: float = 0.0

    def __post_init__(self) -> None:
        count = len(self.arrived_s)
        for name, missing in (
            ("prefix", -1),
            ("prefix_tokens", 0),
            ("priority", 0),
            ("conversation", -1),
            ("follower", -1),
        ):
            if not getattr(self, name):
                setattr(self, name, [missing] * count)

    def __len__(self) -> int:
        return len(self.arrived_s)

    @property
    def reuses_text(self) -> bool:
        """Whether any input begins as another's did: whether a prefix cache could help."""
        return any(tokens > 0 for tokens in self.prefix_tokens) or any(other >= 0 for other in self.follower)

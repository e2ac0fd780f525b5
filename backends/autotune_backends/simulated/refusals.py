"""Why a candidate cannot run on a device."""

from __future__ import annotations

__all__ = ["DoesNotFit", "Infeasible", "Unsupported"]


class Infeasible(Exception):
    """The candidate cannot run there; ``problem`` says why, in one line."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class DoesNotFit(Infeasible):
    """Weights and the least of a KV cache need more memory than there is. ``needed`` and ``room`` in bytes."""

    def __init__(self, problem: str, needed: float, room: float) -> None:
        super().__init__(problem)
        self.needed = needed
        self.room = room


class Unsupported(Infeasible):
    """The device or the model lacks what the candidate asks for."""

"""Sequences whose KV cache is kept elsewhere: they go on decoding without being computed again, once there is memory."""

from __future__ import annotations

import math
from collections import deque
from heapq import heappop, heappush
from typing import NamedTuple

__all__ = ["Kept", "Returns"]


class Kept(NamedTuple):
    """``tokens`` lie elsewhere, ``left`` are still to be made, the last one appeared at ``last_s``. ``swapped``: the host has
    them, from where they are copied while a step waits; else another server sent them.
    """

    request: int
    tokens: int
    left: int
    last_s: float
    swapped: bool


class Returns:
    """``waiting`` for memory, in order. ``blocked``: the first found too little, and nobody gave any back since."""

    __slots__ = ("_coming", "blocked", "waiting")

    def __init__(self) -> None:
        self._coming: list[tuple[float, Kept]] = []
        self.waiting: deque[Kept] = deque()
        self.blocked = False

    @property
    def next_s(self) -> float:
        """When the next cache arrives; infinity when none is on its way."""
        return self._coming[0][0] if self._coming else math.inf

    def send(self, at_s: float, kept: Kept) -> None:
        """It arrives then."""
        heappush(self._coming, (at_s, kept))

    def receive(self, now_s: float) -> None:
        """Let wait what has arrived by now."""
        while self._coming and self._coming[0][0] <= now_s:
            self.waiting.append(heappop(self._coming)[1])

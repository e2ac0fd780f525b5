"""Who is to come, and who waits, in what order."""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush

from autotune_backends.simulated.serving.policy import Policy
from autotune_backends.simulated.serving.requests import Requests

__all__ = ["Queue"]

_WHOEVER = -1  # stands among those who come for the first that waits for a free user


class Queue:
    """Waiting requests in the order of arrival, or of priority first; a preempted one waits where it waited before.

    ``arrived_s`` is filled in as requests arrive. ``blocked``: the first that waits found too little memory, and nobody gave
    any back since. ``batch_left``: how many more the batch that is being filled takes. ``arrivals`` False: nobody comes from
    outside. Who waits for a free user gets a number when it arrives: of two servers, one may run ahead and tell of a later
    answer first.
    """

    __slots__ = ("_coming", "_policy", "_pool", "_requests", "_size", "_waiting", "arrived_s", "batch_left", "blocked")

    def __init__(
        self, policy: Policy, requests: Requests, size: int, arrived_s: list[float], *, arrivals: bool = True
    ) -> None:
        self._policy, self._requests, self._size = policy, requests, size
        known_s = requests.arrived_s if arrivals else []
        self._coming = [(at_s, request) for request, at_s in enumerate(known_s) if not math.isnan(at_s)]
        heapify(self._coming)
        self._pool = iter(requests.pool if arrivals else [])
        self._waiting: list[tuple[int, float, int]] = []
        self.arrived_s = arrived_s
        self.blocked = False
        self.batch_left = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def head(self) -> int:
        """The next to start."""
        return self._waiting[0][2]

    @property
    def next_s(self) -> float:
        """When the next request arrives; infinity when none will, as far as is known."""
        return self._coming[0][0] if self._coming else math.inf

    def receive(self, now_s: float) -> None:
        """Let in what has arrived by now."""
        while self._coming and self._coming[0][0] <= now_s:
            at_s, request = heappop(self._coming)
            if request == _WHOEVER:
                request = next(self._pool, _WHOEVER)
            if request != _WHOEVER:
                self.arrived_s[request] = at_s
                self.push(request)

    def push(self, request: int) -> None:
        """Let a request wait."""
        rank = self._requests.priority[request] if self._policy.priority_scheduling else 0
        self.blocked &= not self._policy.priority_scheduling
        heappush(self._waiting, (rank, self.arrived_s[request], request))

    def pop(self) -> int:
        """The next starts."""
        self.batch_left = max(0, self.batch_left - 1)
        return heappop(self._waiting)[2]

    def block(self) -> None:
        """The head found no memory: a batch is what fits."""
        self.blocked, self.batch_left = True, 0

    def answered(self, request: int, now_s: float) -> None:
        """Its follower comes after a while, or whoever waits for a free user, if anybody does, comes now."""
        follower = self._requests.follower[request]
        if follower >= 0:
            heappush(self._coming, (now_s + self._requests.think_s, follower))
        elif self._requests.pool:
            heappush(self._coming, (now_s, _WHOEVER))

    def lets_start(self, now_s: float, idle: bool) -> bool:
        """Whether the head may start as far as batching goes; ``idle``: nothing runs."""
        if not self._waiting or self.blocked:
            return False
        if self._policy.batching == "continuous" or self.batch_left > 0:
            return True
        if idle and (len(self._waiting) >= self._size or not self._coming or now_s >= self._deadline_s()):
            self.batch_left = min(len(self._waiting), self._size)
        return self.batch_left > 0

    def wakes_s(self) -> float:
        """When an idle server has something to do: at the next arrival, or when a batch has waited long enough."""
        return min(self.next_s, self._deadline_s()) if self._waiting else self.next_s

    def _deadline_s(self) -> float:
        """When the batch leaves, full or not."""
        if self._policy.batching != "dynamic":
            return math.inf
        return min(arrived_s for _, arrived_s, _ in self._waiting) + self._policy.batch_delay_s

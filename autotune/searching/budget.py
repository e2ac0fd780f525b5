"""How long a search may work, and how long it has."""

from __future__ import annotations

import math

from autotune.core.clock import Clock

__all__ = ["Budget"]


class Budget:
    """Working time, in seconds. ``total_s`` None: no bound. ``already_s`` was spent before this process began.

    Time counts from construction, so that whatever the composition root starts next (Ray, trackers) is paid from it; the
    hours that a stopped search lay idle are not.
    """

    def __init__(self, total_s: float | None, clock: Clock, already_s: float = 0.0) -> None:
        self.total_s = total_s
        self._clock = clock
        self._already_s = already_s
        self._began_s = clock.now_s()
        self._logged_s = 0.0

    def spent_s(self) -> float:
        """All working time so far, that of earlier processes included."""
        return self._already_s + self._here_s()

    def left_s(self) -> float:
        """What is left: negative when overdrawn, infinite without a bound."""
        return math.inf if self.total_s is None else self.total_s - self.spent_s()

    def unlogged_s(self) -> float:
        """Working time of this process since the last call: what the run folder has to be told."""
        fresh = self._here_s() - self._logged_s
        self._logged_s += fresh
        return fresh

    def _here_s(self) -> float:
        return self._clock.now_s() - self._began_s

"""Time as the search sees it: real, or virtual in tests."""

from __future__ import annotations

import time
from typing import Protocol

__all__ = ["Clock", "SystemClock"]


class Clock(Protocol):
    """Where time comes from. All in seconds."""

    def now_s(self) -> float:
        """Monotonic: only differences mean anything."""
        ...

    def unix_s(self) -> float:
        """Wall-clock time since 1970."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let that much time pass."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now_s(self) -> float:
        """Return ``time.perf_counter()``."""
        return time.perf_counter()

    def unix_s(self) -> float:
        """Return ``time.time()``."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)

"""A clock that passes hours at once."""

from __future__ import annotations

__all__ = ["VirtualClock"]


class VirtualClock:
    """Time that only ``sleep`` moves. ``unix_s`` starts at ``epoch_s``."""

    def __init__(self, epoch_s: float = 1_764_460_800.0) -> None:
        self._now_s = 0.0
        self._epoch_s = epoch_s

    def now_s(self) -> float:
        """Seconds since this clock was made."""
        return self._now_s

    def unix_s(self) -> float:
        """Virtual wall-clock time."""
        return self._epoch_s + self._now_s

    def sleep(self, seconds: float) -> None:
        """Move on."""
        self._now_s += max(seconds, 0.0)

"""When a search has seen enough: trials that bring nothing new."""

from __future__ import annotations

__all__ = ["MIN_WINDOW", "Patience"]

MIN_WINDOW = 24


class Patience:
    """Used up when the latest ``share`` of all measured trials (at least ``MIN_WINDOW``) changed nothing on the front.

    A share of 0 or less never gives up.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._done = 0
        self._last_news = 0

    def count(self, news: bool) -> None:
        """Count a trial that was measured; ``news``: it changed the front."""
        self._done += 1
        if news:
            self._last_news = self._done

    @property
    def used_up(self) -> bool:
        """Whether to stop."""
        return self._share > 0 and self._done - self._last_news >= max(MIN_WINDOW, self._share * self._done)

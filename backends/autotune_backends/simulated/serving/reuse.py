"""What a request finds in the prefix cache, and what it leaves there."""

from __future__ import annotations

from autotune_backends.simulated.serving.prefix_cache import PrefixCache, conversation_key, prefix_key
from autotune_backends.simulated.serving.requests import Requests

__all__ = ["Reuse"]


class Reuse:
    """Shared beginnings are read by many at once; a conversation's own pages are taken by its next turn.

    Where ``wanted`` is False, or no two requests begin alike, nothing is ever found or left.
    """

    __slots__ = ("_cache", "_page", "_requests", "active")

    def __init__(self, requests: Requests, cache: PrefixCache, page_tokens: int, wanted: bool) -> None:
        self._requests, self._cache, self._page = requests, cache, page_tokens
        self.active = wanted and requests.reuses_text

    def pages(self, request: int, tokens: int) -> int:
        """Of its first ``tokens``, the pages that the cache holds; never all of them, since something must be computed."""
        if not self.active:
            return 0
        pages = self._readable(request)
        if pages == self._shared(request):  # the conversation's pages continue those
            pages += self._cache.held(conversation_key(self._requests.conversation[request]))
        return min(pages, (tokens - 1) // self._page)

    def held_by_others(self, request: int) -> int:
        """Of those, pages that take no more memory, as running sequences read them."""
        return self._cache.busy(self._key(request)) if self.active and self._readable(request) else 0

    def borrow(self, request: int, tokens: int) -> tuple[int, int]:
        """Start to use them: (pages that stay the cache's, tokens that need not be computed)."""
        pages = self.pages(request, tokens)
        if not pages:
            return 0, 0
        borrowed = self._cache.read(self._key(request)) if self._readable(request) else 0
        self._cache.take(conversation_key(self._requests.conversation[request]))
        return borrowed, pages * self._page

    def publish(self, request: int) -> int:
        """Its shared beginning was computed: it is the cache's now. Return the pages it borrows from there on."""
        if not self.active or not (pages := self._shared(request)) or self._cache.held(self._key(request)):
            return 0
        self._cache.store(self._key(request), pages)
        return self._cache.read(self._key(request))

    def release(self, request: int) -> None:
        """It no longer reads the shared beginning that it borrowed."""
        self._cache.release(self._key(request))

    def leave(self, request: int, pages: int) -> None:
        """Its conversation goes on: these pages of its own may be of use to the next turn."""
        if self.active and self._requests.follower[request] >= 0:
            key = conversation_key(self._requests.conversation[request])
            self._cache.take(key)
            self._cache.store(key, pages)

    def _readable(self, request: int) -> int:
        """Pages of its beginning's entry; 0 when it is too short to begin with all of them: an entry is read as a whole."""
        held = self._cache.held(self._key(request))
        return held if held <= self._shared(request) else 0

    def _shared(self, request: int) -> int:
        """Whole pages of its own that are a shared beginning; something is left to compute."""
        return min(self._requests.prefix_tokens[request], self._requests.inputs[request] - 1) // self._page

    def _key(self, request: int) -> int:
        return prefix_key(self._requests.prefix[request])

"""The KV memory of a server: who holds how many of its pages."""

from __future__ import annotations

from autotune_backends.simulated.serving.decoding import Decoding
from autotune_backends.simulated.serving.prefix_cache import PrefixCache

__all__ = ["Memory"]


class Memory:
    """Pages of ``page_tokens``. ``prompt_pages`` are held by sequences whose prompts are being computed; ``borrowed`` counts,
    for every sequence, the pages of its context that belong to the prefix cache and so are held once for all.
    """

    __slots__ = ("borrowed", "cache", "capacity", "decoding", "page_tokens", "prompt_pages")

    def __init__(self, capacity_tokens: int, page_tokens: int, decoding: Decoding) -> None:
        self.page_tokens = page_tokens
        self.capacity = capacity_tokens // page_tokens
        self.decoding = decoding
        self.cache = PrefixCache()
        self.prompt_pages = 0
        self.borrowed = 0

    def pages_of(self, tokens: int) -> int:
        """Pages that so many tokens of one sequence take."""
        return -(-tokens // self.page_tokens)

    def fits(self, pages: int) -> bool:
        """Whether so many pages could be had now, beside those that decoding sequences need for their next token."""
        return self.lasts(1, pages) or pages <= self.free_pages()

    def lasts(self, steps: int, pages: int = 0) -> bool:
        """Whether there surely is room for so many decode steps, and ``pages`` more. False: look closer."""
        return self.decoding.pages_at_most(steps) + pages + self._others() <= self.capacity

    def free_pages(self) -> int:
        """Pages that could be had now, beside those for each decoding sequence's next token; may be negative."""
        return self.capacity - self._others() - self.decoding.pages() - self.decoding.pages_next()

    def steps_that_fit(self) -> int:
        """Decode steps for which there is room."""
        return self.decoding.steps_within(max(0, self.capacity - self._others() - self.decoding.pages()))

    def make_room(self, pages: int = 0) -> None:
        """Let the cache give back what running sequences need, and so many more pages."""
        if self.cache.idle_pages:
            held = self.decoding.pages() + self._others() + self.cache.idle_pages + pages
            self.cache.shrink(held - self.capacity)

    def _others(self) -> int:
        return self.prompt_pages - self.borrowed + self.cache.pages - self.cache.idle_pages

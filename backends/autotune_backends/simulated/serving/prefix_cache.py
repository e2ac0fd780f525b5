"""Pages of text that may come again: shared beginnings of prompts, and what was said in conversations."""

from __future__ import annotations

from collections import OrderedDict

__all__ = ["PrefixCache", "conversation_key", "prefix_key"]


def prefix_key(prefix: int) -> int:
    """The entry of a shared beginning."""
    return 2 * prefix


def conversation_key(conversation: int) -> int:
    """The entry of a conversation's own pages."""
    return 2 * conversation + 1


class PrefixCache:
    """Entries of whole pages, the least recently used first. ``pages`` is their sum, ``idle_pages`` those of entries that no
    running sequence reads: they make room when room is needed, whole entries at a time.
    """

    __slots__ = ("_entries", "_readers", "idle_pages", "pages")

    def __init__(self) -> None:
        self._entries: OrderedDict[int, int] = OrderedDict()
        self._readers: dict[int, int] = {}
        self.pages = 0
        self.idle_pages = 0

    def held(self, key: int) -> int:
        """Pages of an entry, 0 when there is none."""
        return self._entries.get(key, 0)

    def busy(self, key: int) -> int:
        """Pages of an entry that somebody reads, 0 when nobody does."""
        return self._entries[key] if self._readers.get(key) else 0

    def store(self, key: int, pages: int) -> None:
        """Add an entry that nobody reads yet. An entry of the same key stays as it is; ``pages`` 0 adds nothing."""
        if pages > 0 and key not in self._entries:
            self._entries[key] = pages
            self._readers[key] = 0
            self.pages += pages
            self.idle_pages += pages

    def take(self, key: int) -> int:
        """Remove an idle entry; its pages are the caller's."""
        pages = self._entries.pop(key, 0)
        self._readers.pop(key, None)
        self.pages -= pages
        self.idle_pages -= pages
        return pages

    def read(self, key: int) -> int:
        """Count a reader; return the entry's pages (0: there is none, and nothing was counted)."""
        pages = self._entries.get(key, 0)
        if pages:
            self._entries.move_to_end(key)
            if self._readers[key] == 0:
                self.idle_pages -= pages
            self._readers[key] += 1
        return pages

    def release(self, key: int) -> None:
        """A reader ended."""
        self._readers[key] -= 1
        if self._readers[key] == 0:
            self.idle_pages += self._entries[key]

    def shrink(self, pages: int) -> None:
        """Drop idle entries, the least recently used first, until ``pages`` are free or none is idle."""
        for key in [key for key in self._entries if self._readers[key] == 0]:
            if pages <= 0:
                return
            pages -= self.take(key)

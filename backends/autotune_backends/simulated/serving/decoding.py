"""The sequences that are decoding: all grow by one token a step, so that a run of steps needs no look at each of them."""

from __future__ import annotations

from heapq import heappop, heappush

__all__ = ["Decoding"]


class Decoding:
    """``step`` counts decode steps since the start; a sequence that joined with L tokens in KV memory holds
    ``base + step`` tokens, ``base = L - step at joining``. ``kv_tokens`` is the sum over all of them.

    Pages: a sequence takes a new one in the step before which its tokens fill all it has. ``_residues[r]`` counts sequences
    whose ``base`` is r modulo the page size: those of one residue take their pages in the same steps, and over
    ``page_tokens`` steps everyone takes one.
    """

    __slots__ = ("_ends", "_page", "_residues", "base", "end", "kv_tokens", "step")

    def __init__(self, page_tokens: int) -> None:
        self._page = page_tokens
        self._residues = [0] * page_tokens
        self._ends: list[tuple[int, int]] = []
        self.base: dict[int, int] = {}
        self.end: dict[int, int] = {}
        self.step = 0
        self.kv_tokens = 0

    def __len__(self) -> int:
        return len(self.base)

    def join(self, request: int, tokens: int, steps: int) -> None:
        """Add a sequence with ``tokens`` in KV memory that ends after ``steps`` more steps."""
        base = tokens - self.step
        self.base[request] = base
        self._residues[base % self._page] += 1
        self.kv_tokens += tokens
        self.end[request] = self.step + steps
        heappush(self._ends, (self.step + steps, request))

    def leave(self, request: int) -> int:
        """Remove a sequence; return how many tokens it held."""
        base = self.base.pop(request)
        self._residues[base % self._page] -= 1
        tokens = base + self.step
        self.kv_tokens -= tokens
        del self.end[request]
        return tokens

    def advance(self, steps: int) -> None:
        """Every sequence grows by ``steps`` tokens."""
        self.step += steps
        self.kv_tokens += steps * len(self.base)

    def steps_to_end(self) -> int:
        """Steps until the next sequence ends; there must be one that has not."""
        ends = self._ends
        while self.end.get(ends[0][1]) != ends[0][0]:
            heappop(ends)  # it left before its end
        return ends[0][0] - self.step

    def ended(self) -> list[int]:
        """Sequences that ended by now, each told once; they do not leave by themselves."""
        ends = self._ends
        found: list[int] = []
        while ends and ends[0][0] <= self.step:
            end, request = heappop(ends)
            if self.end.get(request) == end and request not in found[-1:]:  # it may have left and joined again
                found.append(request)
        return found

    def pages(self) -> int:
        """Pages that the sequences hold, shared ones counted for each."""
        step, page = self.step, self._page
        empty = sum(count * (-(residue + step) % page) for residue, count in enumerate(self._residues) if count)
        return (self.kv_tokens + empty) // page

    def pages_next(self) -> int:
        """New pages that the next step needs."""
        return self._residues[-self.step % self._page]

    def pages_at_most(self, steps: int) -> int:
        """At least the pages that they hold ``steps`` from now."""
        count = len(self.base)
        return (self.kv_tokens + count * (steps + self._page - 1)) // self._page

    def steps_within(self, free_pages: int) -> int:
        """Steps that can be taken before more than ``free_pages`` new pages are needed."""
        cycles, left = divmod(free_pages, len(self.base))
        steps, page = 0, self._page
        for ahead in range(page):
            left -= self._residues[-(self.step + ahead) % page]
            if left < 0:
                break
            steps += 1
        return cycles * page + steps

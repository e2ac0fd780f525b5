"""Which prompts, and how much of each, a step computes."""

from __future__ import annotations

from autotune_backends.simulated.serving.policy import Policy
from autotune_backends.simulated.serving.preemption import Preemption
from autotune_backends.simulated.serving.sequences import Sequences

__all__ = ["Prompts"]

_UNBOUNDED = 1 << 60


class Prompts:
    """Prompts in the order of the queue, while sequences (``size`` at once), tokens and pages suffice: in parts, beside sequences
    that decode, where the policy mixes them; else whole.
    """

    __slots__ = ("_budget", "_mixes", "_preemption", "_sequences", "_size")

    def __init__(self, policy: Policy, size: int, sequences: Sequences, preemption: Preemption) -> None:
        self._sequences, self._preemption, self._size = sequences, preemption, size
        self._budget = policy.max_batched_tokens
        self._mixes = policy.mixes

    def can_admit(self, now_s: float) -> bool:
        """Whether the first that waits may start, and finds memory to begin with."""
        sequences = self._sequences
        queue, memory = sequences.queue, sequences.memory
        if not queue or len(sequences.running) >= self._size or sequences.returns.waiting:
            return False
        if not queue.lets_start(now_s, not sequences.running):
            return False
        request = queue.head
        goal = tokens = sequences.goal(request)
        if self._mixes:
            tokens = min(goal, sequences.reuse.pages(request, goal) * memory.page_tokens + 1)
        if memory.fits(memory.pages_of(tokens) - sequences.reuse.held_by_others(request)):
            return True
        queue.block()
        return False

    def chunks(self, decodes: int, now_s: float) -> list[tuple[int, int]]:
        """Prompts, or parts of them, for one step beside ``decodes``: (new tokens, tokens before them).

        Nothing without ``decodes``: whoever held memory gave it up for those that come back from the host.
        """
        chunks: list[tuple[int, int]] = []
        sequences, budget = self._sequences, self._budget - decodes
        for request, done in list(sequences.prompts.items()):
            budget -= self._compute(request, done, budget, chunks)
        while budget > 0 and self.can_admit(now_s):
            if chunks and not self._mixes and sequences.uncached(sequences.queue.head) > budget:
                break
            request = sequences.queue.pop()
            done = sequences.admit(request)
            budget -= self._compute(request, done, budget if self._mixes else _UNBOUNDED, chunks)
        if chunks or decodes or not sequences.running:
            return chunks
        self._preemption.drop_youngest(now_s)  # prompts in parts hold all pages, and none can go on
        return self.chunks(decodes, now_s)

    def _compute(self, request: int, done: int, budget: int, chunks: list[tuple[int, int]]) -> int:
        """Add as much of a prompt as tokens and pages allow; return how many tokens that is."""
        sequences, memory = self._sequences, self._sequences.memory
        tokens = min(sequences.goal(request) - done, budget)
        held = memory.pages_of(done)
        if not memory.fits(memory.pages_of(done + tokens) - held):
            tokens = max(0, min(tokens, (memory.free_pages() + held) * memory.page_tokens - done))
        pages = memory.pages_of(done + tokens) - held
        memory.make_room(pages)
        memory.prompt_pages += pages
        sequences.prompts[request] = done + tokens
        if tokens:
            chunks.append((tokens, done))
        return tokens

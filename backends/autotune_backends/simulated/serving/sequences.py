"""The sequences that hold KV memory: how they come into it, and how they leave it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from autotune_backends.simulated.serving.costs import ServingCosts
from autotune_backends.simulated.serving.decoding import Decoding
from autotune_backends.simulated.serving.memory import Memory
from autotune_backends.simulated.serving.policy import Policy
from autotune_backends.simulated.serving.queue import Queue
from autotune_backends.simulated.serving.recorder import Recorder
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.result import Counters
from autotune_backends.simulated.serving.returns import Kept, Returns
from autotune_backends.simulated.serving.reuse import Reuse

__all__ = ["Sequences"]


class Sequences:
    """``running``: all of them, in the order of admission, with the pages borrowed from the cache; ``prompts``: those whose
    prompts are being computed, with the tokens done. ``made``: tokens that those had made who are to be computed again.
    ``stalled``: who decodes but had no token in the last step, and since when. ``unended`` counts those that decode and have
    not ended. ``hand_over`` takes a sequence whose prompt is done elsewhere, with the tokens it holds, at that time; None:
    it decodes here. ``answered`` is told of each answer.
    """

    __slots__ = (
        "_begins",
        "_held",
        "answered",
        "counters",
        "decoding",
        "hand_over",
        "made",
        "memory",
        "prompts",
        "queue",
        "recorder",
        "requests",
        "returns",
        "reuse",
        "running",
        "stalled",
        "unended",
    )

    def __init__(
        self, costs: ServingCosts, policy: Policy, requests: Requests, recorder: Recorder, queue: Queue
    ) -> None:
        self.requests, self.recorder, self.queue = requests, recorder, queue
        self.counters = Counters()
        self.decoding = Decoding(costs.page_tokens)
        self.memory = Memory(costs.kv_capacity_tokens, costs.page_tokens, self.decoding)
        self.reuse = Reuse(requests, self.memory.cache, costs.page_tokens, policy.prefix_caching)
        self.returns = Returns()
        self.running: dict[int, int] = {}
        self.prompts: dict[int, int] = {}
        self.made: dict[int, int] = {}
        self.stalled: dict[int, float] = {}
        self.unended = 0
        self.hand_over: Callable[[int, int, float], None] | None = None
        self.answered: Callable[[int, float], None] = queue.answered
        self._begins: dict[int, int] = {}
        self._held = policy.batching != "continuous"

    def goal(self, request: int) -> int:
        """Tokens to compute before its next one appears: its input and, after a preemption, what it had made."""
        return self.requests.inputs[request] + self.made.get(request, 0)

    def uncached(self, request: int) -> int:
        """Of those, the tokens that the prefix cache does not hold."""
        goal = self.goal(request)
        return goal - self.reuse.pages(request, goal) * self.memory.page_tokens

    def admit(self, request: int) -> int:
        """It starts; return how many of its tokens need not be computed."""
        borrowed, done = self.reuse.borrow(request, self.goal(request))
        self.counters.cached_tokens += done
        self.running[request] = borrowed
        self.memory.borrowed += borrowed
        self.memory.prompt_pages += self.memory.pages_of(done)
        return done

    def join(self, now_s: float) -> None:
        """Sequences whose prompts are done have their next token, and decode from now on."""
        for request, done in list(self.prompts.items()):
            if done < self.goal(request):
                continue
            del self.prompts[request]
            if self.running[request] == 0 and (borrowed := self.reuse.publish(request)):
                self.running[request] = borrowed
                self.memory.borrowed += borrowed
            self.memory.prompt_pages -= self.memory.pages_of(done)
            self._go_on(request, done, now_s)

    def _go_on(self, request: int, tokens: int, now_s: float) -> None:
        """It has its next token, and ``tokens`` in memory."""
        made = self.made.pop(request, 0)
        if made == 0:
            self.recorder.first_s[request] = now_s
        else:
            self.recorder.gaps(now_s - self.recorder.ended_s[request], 0.0, 1, 1)
        left = self.requests.outputs[request] - made - 1
        if left > 0 and self.hand_over is not None:
            self._give_back(request, tokens, keep=True)
            self.hand_over(request, tokens, now_s)
        else:
            self._decode(request, tokens, left)

    def _decode(self, request: int, tokens: int, left: int) -> None:
        self._begins[request] = tokens
        self.decoding.join(request, tokens, left)
        self.unended += 1

    def land(self, kept: Kept) -> None:
        """It goes on where its KV cache was taken away, with memory of its own for all of it."""
        self.running[kept.request] = 0
        self.stalled[kept.request] = kept.last_s
        self._decode(kept.request, kept.tokens, kept.left)

    def stall(self, since_s: float) -> None:
        """Sequences that decode had no step: their next tokens come later."""
        for request, end in self.decoding.end.items():
            if end > self.decoding.step:
                self.stalled.setdefault(request, since_s)

    def note_gaps(self, first_s: float, growth_s: float, steps: int, now_s: float) -> None:
        """Every sequence that has not ended made ``steps`` tokens until now, the first after ``first_s``, or since it stalled."""
        if not self.stalled:
            self.recorder.gaps(first_s, growth_s, steps, self.unended)
            return
        for since_s, waited in Counter(self.stalled.values()).items():
            self.recorder.gaps(now_s - since_s, 0.0, 1, waited)
        if len(self.stalled) < self.unended:
            self.recorder.gaps(first_s, growth_s, steps, self.unended - len(self.stalled))
        self.stalled.clear()

    def end(self, now_s: float) -> None:
        """Answer what is complete; a batch that is held ends with its last request."""
        ended = self.decoding.ended()
        self.unended -= len(ended)
        if self._held:
            ended = list(self._begins) if self.unended == 0 and not self.prompts else []
        for request in ended:
            self.answer(request, now_s)

    def answer(self, request: int, now_s: float) -> None:
        """All its tokens were made."""
        self.recorder.ended_s[request] = now_s
        self.release(request, keep=True)
        self.answered(request, now_s)

    def release(self, request: int, keep: bool) -> int:
        """Take a decoding sequence out of memory; ``keep`` what its conversation will begin with. Return its tokens."""
        tokens = self.decoding.leave(request)
        self.counters.stays.append((self._begins.pop(request), tokens))
        self._give_back(request, tokens, keep)
        return tokens

    def _give_back(self, request: int, tokens: int, keep: bool) -> None:
        borrowed = self.drop_borrowed(request)
        self.memory.borrowed -= borrowed
        if keep:
            self.reuse.leave(request, tokens // self.memory.page_tokens - borrowed)

    def drop_borrowed(self, request: int) -> int:
        """It runs no more; return how many pages it had borrowed, which are the caller's to subtract."""
        self.queue.blocked = self.returns.blocked = False
        borrowed = self.running.pop(request)
        if borrowed:
            self.reuse.release(request)
        return borrowed

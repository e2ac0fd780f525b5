"""One server in virtual time: forms steps, runs them, and tells what became of each request.

The scheduler is vLLM's (v1, ``Scheduler.schedule``): running sequences first, within a budget of tokens; then waiting ones in
order while sequences, tokens and pages suffice; the youngest sequence gives way where pages run out. Between two events
(an arrival that could start, an end, a full memory) decode steps differ only in how long the caches have grown, so that a
whole run of them is one arithmetic series. ``stride`` 1 takes them one by one, through the same code.
"""

from __future__ import annotations

import math
from collections import Counter
from heapq import heapify, heappop, heappush

from autotune_backends.simulated.serving.costs import ServingCosts
from autotune_backends.simulated.serving.decoding import Decoding
from autotune_backends.simulated.serving.memory import Memory
from autotune_backends.simulated.serving.policy import Policy
from autotune_backends.simulated.serving.prefix_cache import conversation_key, prefix_key
from autotune_backends.simulated.serving.recorder import Recorder
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.series import steps_to_reach

__all__ = ["Server"]

_FOREVER = 1 << 60


class Server:
    """``run`` serves every request. ``now_s`` is the virtual time."""

    def __init__(
        self, costs: ServingCosts, policy: Policy, requests: Requests, recorder: Recorder, stride: int | None = None
    ) -> None:
        self.now_s = 0.0
        self._costs, self._policy, self._requests, self._recorder = costs, policy, requests, recorder
        self._counters = recorder.counters
        self._stride = stride or _FOREVER
        self._sequences = min(policy.max_num_seqs, policy.max_batched_tokens)
        self._batched = policy.batching != "continuous"
        self._mixes = policy.chunked_prefill and not self._batched
        self._caches = policy.prefix_caching and requests.reuses_text
        self._decoding = Decoding(costs.page_tokens)
        self._memory = Memory(costs.kv_capacity_tokens, costs.page_tokens, self._decoding)
        self._lines: dict[int, tuple[float, float]] = {}
        self._events = [(at_s, request) for request, at_s in enumerate(requests.arrived_s) if not math.isnan(at_s)]
        heapify(self._events)
        self._pool = iter(requests.pool)
        self._waiting: list[tuple[int, float, int]] = []
        self._running: dict[int, int] = {}  # in the order of admission, with the pages borrowed from the cache
        self._prompts: dict[int, int] = {}  # those whose prompts are being computed, with the tokens done
        self._made: dict[int, int] = {}  # tokens that preempted sequences had made
        self._begins: dict[int, int] = {}
        self._stalled: dict[int, float] = {}  # sequences that waited while prompts had a step to themselves, since when
        self._blocked = False  # the first that waits found too little memory, and nobody gave any back since
        self._batch_left = 0
        self._unended = 0

    def run(self) -> None:
        """Serve until every request was answered."""
        while True:
            self._receive()
            if self._prompts or self._can_admit():
                self._prompt_step()
            elif self._decoding:
                self._decode_run()
            elif not self._idle():
                return

    # what comes in

    def _receive(self) -> None:
        events, now_s = self._events, self.now_s
        while events and events[0][0] <= now_s:
            at_s, request = heappop(events)
            self._recorder.arrived_s[request] = at_s
            self._wait(request)

    def _wait(self, request: int) -> None:
        rank = self._requests.priority[request] if self._policy.priority_scheduling else 0
        self._blocked &= not self._policy.priority_scheduling
        heappush(self._waiting, (rank, self._recorder.arrived_s[request], request))

    def _idle(self) -> bool:
        """Let time pass until the next event; False when there is none, and all is done."""
        due_s = self._events[0][0] if self._events else math.inf
        if self._waiting and self._policy.batching == "dynamic":
            due_s = min(due_s, self._deadline_s())
        if due_s == math.inf:
            return False
        self.now_s = max(self.now_s, due_s)
        return True

    def _deadline_s(self) -> float:
        return min(arrived_s for _, arrived_s, _ in self._waiting) + self._policy.batch_delay_s

    # who may start

    def _can_admit(self) -> bool:
        if not self._waiting or self._blocked or len(self._running) >= self._sequences or not self._gate_open():
            return False
        request = self._waiting[0][2]
        have = self._cached_pages(request)
        tokens = (
            self._goal(request) if not self._mixes else min(self._goal(request), have * self._memory.page_tokens + 1)
        )
        if self._memory.fits(self._memory.pages_of(tokens) - self._read_already(request)):
            return True
        self._blocked, self._batch_left = True, 0  # a batch is what fits
        return False

    def _gate_open(self) -> bool:
        if not self._batched or self._batch_left > 0:
            return True
        if self._running:
            return False
        full = len(self._waiting) >= self._sequences or not self._events
        if full or (self._policy.batching == "dynamic" and self.now_s >= self._deadline_s()):
            self._batch_left = min(len(self._waiting), self._sequences)
        return self._batch_left > 0

    def _goal(self, request: int) -> int:
        """Tokens to compute before its next one appears: its input and, after a preemption, what it had made."""
        return self._requests.inputs[request] + self._made.get(request, 0)

    # what is in the cache

    def _cached_pages(self, request: int) -> int:
        """Pages of its input that the cache holds, never all of it: something must be computed."""
        if not self._caches:
            return 0
        requests, cache = self._requests, self._memory.cache
        shared = requests.prefix_tokens[request] // self._memory.page_tokens
        pages = cache.held(prefix_key(requests.prefix[request])) if shared else 0
        if pages == shared:
            pages += cache.held(conversation_key(requests.conversation[request]))
        return min(pages, (self._goal(request) - 1) // self._memory.page_tokens)

    def _read_already(self, request: int) -> int:
        """Of those, pages that others hold anyway."""
        if not self._caches:
            return 0
        return self._memory.cache.busy(prefix_key(self._requests.prefix[request]))

    def _borrow(self, request: int) -> tuple[int, int]:
        """Take what the cache has for a request: (pages that stay the cache's, tokens that need not be computed)."""
        pages = self._cached_pages(request)
        if not pages:
            return 0, 0
        cache, requests = self._memory.cache, self._requests
        borrowed = cache.read(prefix_key(requests.prefix[request])) if requests.prefix_tokens[request] else 0
        own = cache.take(conversation_key(requests.conversation[request]))
        pages = min(pages, borrowed + own)
        self._counters.cached_tokens += pages * self._memory.page_tokens
        return borrowed, pages * self._memory.page_tokens

    def _publish(self, request: int) -> None:
        """Its shared beginning was computed: from now on it is the cache's, for all."""
        cache, requests = self._memory.cache, self._requests
        pages, key = requests.prefix_tokens[request] // self._memory.page_tokens, prefix_key(requests.prefix[request])
        if pages and self._running[request] == 0 and not cache.held(key):
            cache.store(key, pages)
            self._running[request] = cache.read(key)
            self._memory.borrowed += pages

    # steps with prompts

    def _prompt_step(self) -> None:
        if self._mixes:
            self._give_way()
        decodes = len(self._decoding) if self._mixes else 0
        chunks = self._chunks(self._policy.max_batched_tokens - decodes, bool(decodes))
        began_s = self.now_s
        seconds = self._costs.step_s(chunks, decodes, self._decoding.kv_tokens if decodes else 0)
        self.now_s += seconds
        self._counters.steps += 1
        self._counters.busy_s += seconds
        self._counters.useful_s += seconds
        self._counters.prefill_tokens += sum(new for new, _ in chunks)
        if decodes:
            self._recorder.gaps(seconds, 0.0, 1, decodes)
            self._counters.decode_tokens += decodes
            self._decoding.advance(1)
        else:
            self._stall(began_s)
        self._join()
        self._end()

    def _chunks(self, budget: int, beside: bool) -> list[tuple[int, int]]:
        """Prompts, or parts of them, for one step: (new tokens, tokens before them)."""
        chunks: list[tuple[int, int]] = []
        for request, done in list(self._prompts.items()):
            budget -= self._compute(request, done, budget, chunks)
        while budget > 0 and self._can_admit():
            request = self._waiting[0][2]
            if chunks and not self._mixes and self._uncached(request) > budget:
                break
            heappop(self._waiting)
            budget -= self._admit(request, budget, chunks)
        if chunks or beside:
            return chunks
        self._drop(self._youngest())  # prompts in parts hold all pages, and none can go on
        return self._chunks(budget, beside)

    def _admit(self, request: int, budget: int, chunks: list[tuple[int, int]]) -> int:
        borrowed, done = self._borrow(request)
        self._batch_left = max(0, self._batch_left - 1)
        self._running[request] = borrowed
        self._memory.borrowed += borrowed
        self._memory.prompt_pages += self._memory.pages_of(done)
        return self._compute(request, done, budget if self._mixes else _FOREVER, chunks)

    def _uncached(self, request: int) -> int:
        return self._goal(request) - self._cached_pages(request) * self._memory.page_tokens

    def _compute(self, request: int, done: int, budget: int, chunks: list[tuple[int, int]]) -> int:
        """Add as much of a prompt as tokens and pages allow; return how many tokens that is."""
        memory = self._memory
        tokens = min(self._goal(request) - done, budget)
        held = memory.pages_of(done)
        if not memory.fits(memory.pages_of(done + tokens) - held):
            tokens = max(0, min(tokens, (memory.free_pages() + held) * memory.page_tokens - done))
        pages = memory.pages_of(done + tokens) - held
        memory.make_room(pages)
        memory.prompt_pages += pages
        self._prompts[request] = done + tokens
        if tokens:
            chunks.append((tokens, done))
        return tokens

    def _stall(self, since_s: float) -> None:
        """Sequences that decode had no step: their next tokens come later."""
        decoding = self._decoding
        for request, end in decoding.end.items():
            if end > decoding.step:
                self._stalled.setdefault(request, since_s)

    def _join(self) -> None:
        """Sequences whose prompts are done have their next token, and decode from now on."""
        for request, done in list(self._prompts.items()):
            if done < self._goal(request):
                continue
            del self._prompts[request]
            if self._caches:
                self._publish(request)
            self._memory.prompt_pages -= self._memory.pages_of(done)
            self._start_decoding(request, done)

    def _start_decoding(self, request: int, tokens: int) -> None:
        """It has its next token, and ``tokens`` in memory."""
        made = self._made.pop(request, 0)
        if made == 0:
            self._recorder.first_s[request] = self.now_s
        else:
            self._recorder.gaps(self.now_s - self._recorder.ended_s[request], 0.0, 1, 1)
        left = self._requests.outputs[request] - made - 1
        self._begins[request] = tokens
        self._decoding.join(request, tokens, left)
        self._unended += 1

    # steps without

    def _decode_run(self) -> None:
        """Run decode steps until something happens."""
        gave_way = self._give_way()
        decoding, counters = self._decoding, self._counters
        sequences = len(decoding)
        if not self._unended:
            self._end()
            return
        line = self._lines.get(sequences) or self._line(sequences)
        first_s, growth_s = line[0] + line[1] * decoding.kv_tokens, line[1] * sequences
        steps = min(decoding.steps_to_end(), self._stride, 1 if gave_way or self._stalled else _FOREVER)
        if self._events and self._newcomers_matter():
            steps = steps_to_reach(self._events[0][0] - self.now_s, first_s, growth_s, steps)
        if not self._memory.lasts(steps):
            steps = min(steps, self._memory.steps_that_fit())
        seconds = steps * first_s + growth_s * (steps * (steps - 1) // 2)
        self.now_s += seconds
        decoding.advance(steps)
        self._memory.make_room()
        counters.steps += steps
        counters.decode_steps += steps
        counters.busy_s += seconds
        counters.useful_s += seconds * self._unended / sequences
        counters.decode_tokens += steps * self._unended
        self._note_gaps(first_s, growth_s, steps)
        self._end()

    def _newcomers_matter(self) -> bool:
        """Whether the next to arrive could start while sequences are decoding."""
        if self._batched or len(self._running) >= self._sequences:
            return False
        return not self._waiting or self._policy.priority_scheduling

    def _line(self, sequences: int) -> tuple[float, float]:
        line = self._lines[sequences] = self._costs.decode_line(sequences)
        return line

    def _note_gaps(self, first_s: float, growth_s: float, steps: int) -> None:
        if not self._stalled:
            self._recorder.gaps(first_s, growth_s, steps, self._unended)
            return
        for since_s, waited in Counter(self._stalled.values()).items():
            self._recorder.gaps(self.now_s - since_s, 0.0, 1, waited)
        if len(self._stalled) < self._unended:
            self._recorder.gaps(first_s, growth_s, steps, self._unended - len(self._stalled))
        self._stalled.clear()

    def _end(self) -> None:
        """Answer what is complete; a batch that is held ends with its last request."""
        ended = self._decoding.ended()
        self._unended -= len(ended)
        if self._batched:
            ended = list(self._begins) if self._unended == 0 and not self._prompts else []
        for request in ended:
            self._answer(request)

    def _answer(self, request: int) -> None:
        self._recorder.ended_s[request] = self.now_s
        self._release(request, keep=True)
        follower = self._requests.follower[request]
        if follower >= 0:
            heappush(self._events, (self.now_s + self._requests.think_s, follower))
        elif (following := next(self._pool, None)) is not None:
            heappush(self._events, (self.now_s, following))

    # giving up pages

    def _give_way(self) -> bool:
        """Preempt the youngest sequences until every other has room for its next token; tell whether there were any."""
        gave_way = False
        while self._decoding and not self._memory.fits(0):
            self._drop(self._youngest())
            gave_way = True
        return gave_way

    def _youngest(self) -> int:
        if not self._policy.priority_scheduling:
            return next(reversed(self._running))
        requests, arrived_s = self._requests, self._recorder.arrived_s
        return max(self._running, key=lambda request: (requests.priority[request], arrived_s[request]))

    def _drop(self, request: int) -> None:
        """Take a sequence out of memory before its end: it waits for its turn, and is computed again."""
        self._counters.preemptions += 1
        if request in self._prompts:
            self._memory.prompt_pages -= self._memory.pages_of(self._prompts.pop(request))
            self._memory.borrowed -= self._drop_borrowed(request)
        elif (left := self._decoding.end[request] - self._decoding.step) <= 0:
            self._answer(request)  # it was only held
            return
        else:
            self._made[request] = self._requests.outputs[request] - left
            self._recorder.ended_s[request] = self._stalled.pop(request, self.now_s)  # its last token so far
            self._release(request, keep=False)
            self._unended -= 1
        self._wait(request)

    def _release(self, request: int, keep: bool) -> None:
        """Take a decoding sequence out of memory; ``keep`` what its conversation will begin with."""
        tokens = self._decoding.leave(request)
        self._recorder.stays.append((self._begins.pop(request), tokens))
        borrowed = self._drop_borrowed(request)
        self._memory.borrowed -= borrowed
        if keep and self._caches and self._requests.follower[request] >= 0:
            key = conversation_key(self._requests.conversation[request])
            self._memory.cache.take(key)
            self._memory.cache.store(key, tokens // self._memory.page_tokens - borrowed)

    def _drop_borrowed(self, request: int) -> int:
        self._blocked = False
        borrowed = self._running.pop(request)
        if borrowed:
            self._memory.cache.release(prefix_key(self._requests.prefix[request]))
        return borrowed

"""One server in virtual time: forms steps, runs them, and tells what became of each request.

The scheduler is vLLM's (v1, ``Scheduler.schedule``): running sequences first, within a budget of tokens; then waiting ones in
order while sequences, tokens and pages suffice; the youngest sequence gives way where pages run out. Between two events
(an arrival that could start, an end, a full memory) decode steps differ only in how long the caches have grown, so that a
whole run of them is one arithmetic series. ``stride`` 1 takes them one by one, through the same code.
"""

from __future__ import annotations

import math
from collections import Counter

from autotune_backends.simulated.serving.costs import ServingCosts
from autotune_backends.simulated.serving.decoding import Decoding
from autotune_backends.simulated.serving.memory import Memory
from autotune_backends.simulated.serving.policy import Policy
from autotune_backends.simulated.serving.queue import Queue
from autotune_backends.simulated.serving.recorder import Recorder
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.reuse import Reuse
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
        self._decoding = Decoding(costs.page_tokens)
        self._memory = Memory(costs.kv_capacity_tokens, costs.page_tokens, self._decoding)
        self._reuse = Reuse(requests, self._memory.cache, costs.page_tokens, policy.prefix_caching)
        self._queue = Queue(policy, requests, self._sequences, recorder.arrived_s)
        self._lines: dict[int, tuple[float, float]] = {}
        self._running: dict[int, int] = {}  # in the order of admission, with the pages borrowed from the cache
        self._prompts: dict[int, int] = {}  # those whose prompts are being computed, with the tokens done
        self._made: dict[int, int] = {}  # tokens that preempted sequences had made
        self._begins: dict[int, int] = {}
        self._stalled: dict[int, float] = {}  # sequences that waited while prompts had a step to themselves, since when
        self._unended = 0

    def run(self) -> None:
        """Serve until every request was answered."""
        while True:
            self._queue.receive(self.now_s)
            if self._prompts or self._can_admit():
                self._prompt_step()
            elif self._decoding:
                self._decode_run()
            elif not self._idle():
                return

    def _idle(self) -> bool:
        """Let time pass until there is something to do; False when there never is."""
        wakes_s = self._queue.wakes_s()
        if wakes_s == math.inf:
            return False
        self.now_s = max(self.now_s, wakes_s)
        return True

    def _can_admit(self) -> bool:
        """Whether the first that waits may start, and finds memory to begin with."""
        queue, memory = self._queue, self._memory
        if not queue or len(self._running) >= self._sequences or not queue.lets_start(self.now_s, not self._running):
            return False
        request = queue.head
        goal = tokens = self._goal(request)
        if self._mixes:
            tokens = min(goal, self._reuse.pages(request, goal) * memory.page_tokens + 1)
        if memory.fits(memory.pages_of(tokens) - self._reuse.held_by_others(request)):
            return True
        queue.block()
        return False

    def _goal(self, request: int) -> int:
        """Tokens to compute before its next one appears: its input and, after a preemption, what it had made."""
        return self._requests.inputs[request] + self._made.get(request, 0)

    def _uncached(self, request: int) -> int:
        goal = self._goal(request)
        return goal - self._reuse.pages(request, goal) * self._memory.page_tokens

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
            if chunks and not self._mixes and self._uncached(self._queue.head) > budget:
                break
            budget -= self._admit(self._queue.pop(), budget, chunks)
        if chunks or beside:
            return chunks
        self._drop(self._youngest())  # prompts in parts hold all pages, and none can go on
        return self._chunks(budget, beside)

    def _admit(self, request: int, budget: int, chunks: list[tuple[int, int]]) -> int:
        borrowed, done = self._reuse.borrow(request, self._goal(request))
        self._counters.cached_tokens += done
        self._running[request] = borrowed
        self._memory.borrowed += borrowed
        self._memory.prompt_pages += self._memory.pages_of(done)
        return self._compute(request, done, budget if self._mixes else _FOREVER, chunks)

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
            if self._running[request] == 0 and (borrowed := self._reuse.publish(request)):
                self._running[request] = borrowed
                self._memory.borrowed += borrowed
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
        if (next_s := self._queue.next_s) < math.inf and self._newcomers_matter():
            steps = steps_to_reach(next_s - self.now_s, first_s, growth_s, steps)
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
        return not self._queue or self._policy.priority_scheduling

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
        self._queue.answered(request, self.now_s)

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
        self._queue.push(request)

    def _release(self, request: int, keep: bool) -> None:
        """Take a decoding sequence out of memory; ``keep`` what its conversation will begin with."""
        tokens = self._decoding.leave(request)
        self._recorder.stays.append((self._begins.pop(request), tokens))
        borrowed = self._drop_borrowed(request)
        self._memory.borrowed -= borrowed
        if keep:
            self._reuse.leave(request, tokens // self._memory.page_tokens - borrowed)

    def _drop_borrowed(self, request: int) -> int:
        self._queue.blocked = False
        borrowed = self._running.pop(request)
        if borrowed:
            self._reuse.release(request)
        return borrowed

"""One server in virtual time: forms steps, runs them, and tells what became of each request.

The scheduler is vLLM's (v1, ``Scheduler.schedule``): running sequences first, within a budget of tokens; then waiting ones in
order while sequences, tokens and pages suffice; the youngest sequence gives way where pages run out. Between two events
(an arrival that could start, an end, a full memory) decode steps differ only in how long the caches have grown, so that a
whole run of them is one arithmetic series. ``stride`` 1 takes them one by one, through the same code.
"""

from __future__ import annotations

import math

from autotune_backends.simulated.serving.costs import ServingCosts
from autotune_backends.simulated.serving.policy import Policy
from autotune_backends.simulated.serving.preemption import Preemption
from autotune_backends.simulated.serving.prompts import Prompts
from autotune_backends.simulated.serving.queue import Queue
from autotune_backends.simulated.serving.recorder import Recorder
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.sequences import Sequences
from autotune_backends.simulated.serving.series import steps_to_reach

__all__ = ["Server"]

_FOREVER = 1 << 60


class Server:
    """``run`` serves every request. ``now_s`` is the virtual time. ``arrivals`` False: requests come from another server."""

    def __init__(
        self,
        costs: ServingCosts,
        policy: Policy,
        requests: Requests,
        recorder: Recorder,
        stride: int | None = None,
        *,
        arrivals: bool = True,
    ) -> None:
        self.now_s = 0.0
        self._costs, self._policy = costs, policy
        self._stride = stride or _FOREVER
        self._size = min(policy.max_num_seqs, policy.max_batched_tokens)
        self._queue = Queue(policy, requests, self._size, recorder.arrived_s, arrivals=arrivals)
        self.sequences = Sequences(costs, policy, requests, recorder, self._queue)
        self._preemption = Preemption(costs, policy, self.sequences)
        self._prompts = Prompts(policy, self._size, self.sequences, self._preemption)
        self._decoding, self._memory = self.sequences.decoding, self.sequences.memory
        self._returns, self._counters = self.sequences.returns, self.sequences.counters
        self._lines: dict[int, tuple[float, float]] = {}

    def run(self) -> None:
        """Serve until every request was answered."""
        while self.advance():
            pass

    def advance(self, until_s: float = math.inf) -> bool:
        """Take the next step, or run of decode steps: not further than ``until_s``, when somebody could come of whom nothing is
        known yet. Without anything to do, let time pass until there is; False when there never is.
        """
        self._receive()
        if self.sequences.prompts or self._prompts.can_admit(self.now_s):
            self._prompt_step()
        elif self._decoding:
            self._decode_run(until_s)
        else:
            wakes_s = self._wakes_s()
            self.now_s = max(self.now_s, wakes_s) if wakes_s < math.inf else self.now_s
            return wakes_s < math.inf
        return True

    def ready_s(self) -> float:
        """When it takes its next step, as far as is known; infinity: never. Nobody is let in: who is first may be unknown yet."""
        at_work = self.sequences.prompts or self._decoding or self._returns.waiting
        if at_work or self._prompts.can_admit(self.now_s):
            return self.now_s
        return max(self.now_s, self._wakes_s())

    def _receive(self) -> None:
        self._queue.receive(self.now_s)
        self._returns.receive(self.now_s)
        if self._returns.waiting:
            self._preemption.take_back(self._size)

    def _wakes_s(self) -> float:
        return min(self._queue.wakes_s(), self._returns.next_s)

    def _copying_s(self) -> float:
        seconds, self._preemption.copying_s = self._preemption.copying_s, 0.0
        return seconds

    def _prompt_step(self) -> None:
        sequences, counters = self.sequences, self._counters
        mixes = self._policy.mixes
        if mixes:
            self._preemption.give_way(self.now_s)
        decodes = len(self._decoding) if mixes else 0
        chunks = self._prompts.chunks(decodes, self.now_s)
        if not chunks and not decodes:
            return
        began_s = self.now_s
        seconds = self._costs.step_s(chunks, decodes, self._decoding.kv_tokens if decodes else 0)
        copying_s = self._copying_s()
        self.now_s += seconds + copying_s
        counters.steps += 1
        counters.busy_s += seconds
        counters.useful_s += seconds
        counters.prefill_tokens += sum(new for new, _ in chunks)
        if decodes:
            sequences.note_gaps(seconds + copying_s, 0.0, 1, self.now_s)
            counters.decode_tokens += decodes
            self._decoding.advance(1)
        else:
            sequences.stall(began_s)
        sequences.join(self.now_s)
        sequences.end(self.now_s)

    def _decode_run(self, until_s: float) -> None:
        """Run decode steps until something happens."""
        sequences, decoding, counters = self.sequences, self._decoding, self._counters
        gave_way = self._preemption.give_way(self.now_s)
        if not sequences.unended:
            sequences.end(self.now_s)
            return
        count, unended = len(decoding), sequences.unended
        line = self._lines.get(count) or self._line(count)
        first_s, growth_s = line[0] + line[1] * decoding.kv_tokens, line[1] * count
        copying_s = self._copying_s()
        alone = gave_way or sequences.stalled or copying_s
        steps = self._steps(first_s + copying_s, growth_s, until_s, 1 if alone else self._stride)
        seconds = steps * first_s + growth_s * (steps * (steps - 1) // 2)
        self.now_s += seconds + copying_s
        decoding.advance(steps)
        self._memory.make_room()
        counters.steps += steps
        counters.decode_steps += steps
        counters.busy_s += seconds
        counters.useful_s += seconds * unended / count
        counters.decode_tokens += steps * unended
        sequences.note_gaps(first_s + copying_s, growth_s, steps, self.now_s)
        sequences.end(self.now_s)

    def _steps(self, first_s: float, growth_s: float, until_s: float, at_most: int) -> int:
        """Decode steps until something happens."""
        steps = min(self._decoding.steps_to_end(), at_most)
        next_s = self._newcomer_s(until_s)
        if next_s < math.inf:
            steps = steps_to_reach(next_s - self.now_s, first_s, growth_s, steps)
        if not self._memory.lasts(steps):
            steps = min(steps, self._memory.steps_that_fit())
        return steps

    def _newcomer_s(self, until_s: float) -> float:
        """When the next who could start beside those that decode arrives; infinity: nobody could, whoever comes.

        Caches from another server go before prompts: they need not wait behind a prompt that finds too little memory.
        """
        policy = self._policy
        if policy.batching != "continuous" or len(self.sequences.running) >= self._size or self._returns.waiting:
            return math.inf
        landing_s = min(self._returns.next_s, until_s)
        if self._queue and not policy.priority_scheduling:
            return landing_s
        return min(landing_s, self._queue.next_s)

    def _line(self, sequences: int) -> tuple[float, float]:
        line = self._lines[sequences] = self._costs.decode_line(sequences)
        return line

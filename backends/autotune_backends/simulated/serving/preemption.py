"""Who gives way when pages run out, and what becomes of it."""

from __future__ import annotations

from autotune_backends.simulated.serving.costs import ServingCosts
from autotune_backends.simulated.serving.policy import Policy
from autotune_backends.simulated.serving.returns import Kept
from autotune_backends.simulated.serving.sequences import Sequences

__all__ = ["Preemption"]


class Preemption:
    """The youngest gives way. It is computed again, or (``swap``) its cache is copied to the host and back, as long as the host
    has room. ``copying_s``: how long the next step waits for copies; whoever runs that step sets it back.
    """

    __slots__ = ("_costs", "_host_tokens", "_priority", "_sequences", "_swap", "copying_s")

    def __init__(self, costs: ServingCosts, policy: Policy, sequences: Sequences) -> None:
        self._costs, self._sequences = costs, sequences
        self._swap, self._priority = policy.preemption == "swap", policy.priority_scheduling
        self._host_tokens = costs.host_capacity_tokens if self._swap else 0
        self.copying_s = 0.0

    def give_way(self, now_s: float) -> bool:
        """Preempt the youngest until every other has room for its next token; tell whether there were any."""
        gave_way = False
        sequences = self._sequences
        while sequences.decoding and not sequences.memory.fits(0):
            self.drop_youngest(now_s)
            gave_way = True
        return gave_way

    def drop_youngest(self, now_s: float) -> None:
        """Take it out of memory before its end."""
        sequences = self._sequences
        request = self._youngest()
        sequences.counters.preemptions += 1
        if request in sequences.prompts:
            sequences.memory.prompt_pages -= sequences.memory.pages_of(sequences.prompts.pop(request))
            sequences.memory.borrowed -= sequences.drop_borrowed(request)
            sequences.queue.push(request)
        elif (left := sequences.decoding.end[request] - sequences.decoding.step) <= 0:
            sequences.answer(request, now_s)  # it was only held
        else:
            self._interrupt(request, left, now_s)

    def take_back(self, at_most: int) -> None:
        """Let those decode again that find memory, in order, while fewer than ``at_most`` run."""
        sequences, returns = self._sequences, self._sequences.returns
        while returns.waiting and not returns.blocked and len(sequences.running) < at_most:
            kept = returns.waiting[0]
            pages = sequences.memory.pages_of(kept.tokens + 1)
            if not sequences.memory.fits(pages):
                returns.blocked = True
                return
            sequences.memory.make_room(pages)
            sequences.land(returns.waiting.popleft())
            if kept.swapped:
                self._host_tokens += kept.tokens
                self.copying_s += self._costs.swap_s(kept.tokens)

    def _interrupt(self, request: int, left: int, now_s: float) -> None:
        sequences = self._sequences
        last_s = sequences.stalled.pop(request, now_s)
        tokens = sequences.release(request, keep=False)
        sequences.unended -= 1
        if self._swap and tokens <= self._host_tokens:
            self._host_tokens -= tokens
            self.copying_s += self._costs.swap_s(tokens)
            sequences.counters.swaps += 1
            sequences.returns.waiting.append(Kept(request, tokens, left, last_s, swapped=True))
            return
        sequences.made[request] = sequences.requests.outputs[request] - left
        sequences.recorder.ended_s[request] = last_s  # its last token so far
        sequences.queue.push(request)

    def _youngest(self) -> int:
        sequences = self._sequences
        if not self._priority:
            return next(reversed(sequences.running))
        ranks, arrived_s = sequences.requests.priority, sequences.recorder.arrived_s
        return max(sequences.running, key=lambda request: (ranks[request], arrived_s[request]))

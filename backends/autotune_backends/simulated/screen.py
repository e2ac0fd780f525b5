"""The analytic screen: what a server reaches in steady state, in well under a millisecond, without simulating requests."""

from __future__ import annotations

from dataclasses import dataclass

from autotune_backends.simulated.step_costs import StepCosts

__all__ = ["ClosedLoop", "closed_loop"]


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """Means in steady state. ``running``: sequences that fit and decode at once. ``power_w`` None: unknown.

    ``compute`` and ``memory``: utilisations; ``sampling``: a share of time. ``output_throughput`` in tokens a second of the whole
    replica.
    """

    ttft_s: float
    tpot_s: float
    output_throughput: float
    running: int
    compute: float
    memory: float
    sampling: float
    power_w: float | None

    @property
    def energy_per_token_j(self) -> float | None:
        """Joules an output token."""
        return None if self.power_w is None else self.power_w / self.output_throughput


def closed_loop(
    costs: StepCosts,
    users: int,
    input_tokens: int,
    output_tokens: int,
    *,
    max_num_seqs: int = 256,
    max_batched_tokens: int = 8192,
) -> ClosedLoop:
    """``users`` who each send the next request when the last was answered. Raises ``ValueError`` when not one request fits.

    In steady state each of N running sequences is prefilled once in ``output_tokens`` steps: a step carries, on average,
    N / output_tokens prompts besides N decodes. Before its first token, a request waits for the host, which takes in those of all
    users who send at the same time; the device works on others' meanwhile.
    """
    running = _running(costs, users, input_tokens, output_tokens, max_num_seqs)
    kv_tokens = int(running * (input_tokens + output_tokens / 2))
    decode = costs.step_s((), running, kv_tokens)
    prompt = _prompt_s(costs, running, kv_tokens, input_tokens, max_batched_tokens, decode)
    alone = _prefill_s(costs, input_tokens, max_batched_tokens)
    steps = max(1, output_tokens - 1)
    tpot = decode + prompt * (running - 1) / output_tokens
    reading = input_tokens * costs.engine.token_s
    cycle = costs.engine.first_s + reading + alone + steps * tpot
    first = running * costs.engine.first_s + reading + alone + 0.5 * decode * (running > 1)
    waiting = cycle * (users - running) / running
    compute, memory = _utilisation(costs, running, kv_tokens, input_tokens, output_tokens, cycle)
    sampling = costs.sampling_share(running * output_tokens, cycle)
    return ClosedLoop(
        ttft_s=first + waiting,
        tpot_s=tpot,
        output_throughput=running * output_tokens / cycle,
        running=running,
        compute=compute,
        memory=memory,
        sampling=sampling,
        power_w=costs.power_w(compute, memory, sampling),
    )


def _running(costs: StepCosts, users: int, inputs: int, outputs: int, most: int) -> int:
    room = int(costs.kv_capacity_tokens / (inputs + outputs / 2))
    if costs.kv_capacity_tokens < inputs + outputs:
        raise ValueError(
            f"a request of {inputs} + {outputs} tokens does not fit a KV cache of {costs.kv_capacity_tokens} tokens"
        )
    return max(1, min(users, most, room))


def _prefill_s(costs: StepCosts, inputs: int, budget: int) -> float:
    """Of one prompt alone, in chunks of the token budget."""
    return sum(costs.step_s([chunk], 0, 0) for chunk in _chunks(inputs, budget))


def _prompt_s(costs: StepCosts, running: int, kv_tokens: int, inputs: int, budget: int, decode: float) -> float:
    """What one prompt adds to the steps of the sequences that decode beside it."""
    chunks = _chunks(inputs, max(1, budget - running))
    return sum(costs.step_s([chunk], running, kv_tokens) - decode for chunk in chunks)


def _chunks(inputs: int, budget: int) -> list[tuple[int, int]]:
    return [(min(budget, inputs - done), done) for done in range(0, inputs, budget)]


def _utilisation(
    costs: StepCosts, running: int, kv_tokens: int, inputs: int, outputs: int, cycle: float
) -> tuple[float, float]:
    """Over a cycle, in which each of ``running`` is prefilled once and decodes ``outputs`` tokens."""
    step = costs.work((), running, kv_tokens)
    prompt = costs.work([(inputs, 0)], 0, 0)
    flops = outputs * step.flops + running * prompt.flops
    moved = outputs * step.bytes
    return min(1.0, flops / (cycle * costs.layers.peak)), min(1.0, moved / (cycle * costs.layers.bandwidth))

"""From a workload to the requests of a simulation: drawn once, by seed, before anything is served."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from autotune.core.errors import UserError
from autotune.core.token_load import TokenLoad
from autotune.core.workload import Phase, Workload
from autotune_backends.simulated.serving.arrivals import arrival_times
from autotune_backends.simulated.serving.lengths import draw_counts
from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.trace import TraceRow, read_trace

__all__ = ["requests_of"]

DURATION_S = 600.0  # of an open loop that says neither how long nor how many
ROUNDS = 12  # requests a user of a closed loop sends, where nothing says how many
FEWEST = 64
_MOST = 5_000_000
Counts = NDArray[np.int64]


def requests_of(workload: Workload, seed: int = 0) -> Requests:
    """Every request of the workload's serving phase. The same workload and seed give the same requests.

    Raises ``UserError`` when it has no such phase, no rate, or a trace that cannot be read.
    """
    phase = workload.serving
    if phase is None or phase.tokens is None:
        raise UserError(
            f"workload {workload.name!r} says nothing of tokens",
            "use chat, code, rag or summarise, or give input_tokens",
        )
    if phase.tokens.trace is not None:
        return _from_trace(read_trace(Path(phase.tokens.trace)))
    return _drawn(phase, phase.tokens, np.random.default_rng([phase.tokens.seed, seed]), workload.name)


def _from_trace(rows: list[TraceRow]) -> Requests:
    names = {name: index for index, name in enumerate(dict.fromkeys(row.prefix_id for row in rows if row.prefix_id))}
    return Requests(
        arrived_s=[row.arrived_s for row in rows],
        inputs=[row.input_tokens for row in rows],
        outputs=[row.output_tokens for row in rows],
        prefix=[names.get(row.prefix_id, -1) for row in rows],
        prefix_tokens=[row.prefix_tokens if row.prefix_id else 0 for row in rows],
        priority=[row.priority for row in rows],
    )


def _drawn(phase: Phase, load: TokenLoad, generator: np.random.Generator, name: str) -> Requests:
    conversations = math.ceil(_count(phase, load, name) / load.turns)
    count = conversations * load.turns
    messages = draw_counts(load.input_tokens, count, generator)
    outputs = draw_counts(load.output_tokens, count, generator)
    starts, pool = _starts(phase, load, conversations, generator)
    arrived = np.full(count, math.nan)
    arrived[:: load.turns] = starts
    return Requests(
        arrived_s=arrived.tolist(),
        inputs=_with_history(messages, outputs, load.turns).tolist(),
        outputs=outputs.tolist(),
        prefix=[0] * count if load.shared_prefix_tokens else [],
        prefix_tokens=np.minimum(load.shared_prefix_tokens, messages - 1).tolist(),
        priority=_priorities(load, count, generator),
        conversation=(np.arange(count) // load.turns).tolist(),
        follower=_followers(count, load.turns) if load.turns > 1 else [],
        pool=[conversation * load.turns for conversation in pool],
        think_s=load.think_time_s,
    )


def _count(phase: Phase, load: TokenLoad, name: str) -> int:
    """How many requests to send."""
    if load.requests is not None:
        return load.requests
    if load.users is not None:
        return max(FEWEST, ROUNDS * load.users)
    if phase.rate_per_s is None:
        raise UserError(f"workload {name!r} has no rate", "say how much load: a rate such as 6.5/s, or users")
    expected = phase.rate_per_s * load.turns * (phase.duration_s or DURATION_S)
    if expected > _MOST:
        raise UserError(f"{expected:.3g} requests are too many to simulate", f"at most {_MOST}: shorten the duration")
    return max(FEWEST, round(expected))


def _starts(
    phase: Phase, load: TokenLoad, conversations: int, generator: np.random.Generator
) -> tuple[NDArray[np.float64], list[int]]:
    """When each conversation begins (NaN: when a user is free), and which of them wait for a user."""
    if load.users is None:
        return arrival_times(load, phase.rate_per_s or 1.0, conversations, generator), []
    starts = np.full(conversations, math.nan)
    starts[: load.users] = 0.0
    return starts, list(range(load.users, conversations))


def _with_history(messages: Counts, outputs: Counts, turns: int) -> Counts:
    """Inputs that hold all that was said before in their conversation."""
    said = (messages + outputs).reshape(-1, turns)
    before = np.cumsum(said, axis=1) - said
    inputs: Counts = messages + before.reshape(-1)
    return inputs


def _followers(count: int, turns: int) -> list[int]:
    return [request + 1 if (request + 1) % turns else -1 for request in range(count)]


def _priorities(load: TokenLoad, count: int, generator: np.random.Generator) -> list[int]:
    if not load.priorities:
        return []
    shares = np.asarray(load.priorities) / sum(load.priorities)
    drawn: list[int] = generator.choice(len(shares), count, p=shares).tolist()
    return drawn

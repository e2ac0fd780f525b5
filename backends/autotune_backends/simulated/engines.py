"""What a serving engine adds to the device's own time: its host's work, and how its measured clients send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from autotune.core.errors import UserError, nearest
from autotune_backends.simulated.fitted import fitted

__all__ = ["ENGINES", "Engine", "engine_named"]


@dataclass(frozen=True, slots=True)
class Engine:
    """``step_s``: scheduling, sampling and bookkeeping that a step waits for; ``sequence_s``: of each sequence in it.

    Before a first token, the host takes in the requests of all who send at once, ``first_s`` for each, and reads the prompt,
    ``token_s`` for each of its tokens.
    """

    name: str
    step_s: float
    sequence_s: float
    first_s: float
    token_s: float


# Fitted to closed loops of aiconfigurator-core 0.12.0 (vLLM 0.12, TensorRT-LLM 1.0) and ML.ENERGY v3 (vLLM 0.11) on H100
ENGINES: Final[dict[str, Engine]] = {name: Engine(name, **values) for name, values in fitted().engines.items()}


def engine_named(name: str) -> Engine:
    """Return the engine. Raises ``UserError`` with the nearest name."""
    if name not in ENGINES:
        raise UserError(f"unknown engine {name!r}{nearest(name, ENGINES)}", f"known: {', '.join(ENGINES)}")
    return ENGINES[name]

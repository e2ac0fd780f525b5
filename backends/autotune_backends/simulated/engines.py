"""What a serving engine adds to the device's own time: its host's work, and how its measured clients send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from autotune.core.errors import UserError, nearest

__all__ = ["ENGINES", "Engine", "engine_named"]


@dataclass(frozen=True, slots=True)
class Engine:
    """``step_s``: scheduling, sampling and bookkeeping that a step waits for; ``sequence_s``: of each sequence in it.

    ``first_s``: from the client to the scheduler and back, once a request. ``wave_share``: of the other users' prompts, those
    that one waits for on average: 0.5 when all send at once and stay in step, near 0 when they have drifted apart.
    """

    name: str
    step_s: float
    sequence_s: float
    first_s: float
    wave_share: float


# Fitted to closed loops measured by aiconfigurator-core 0.12.0 (vLLM 0.12, TensorRT-LLM 1.0) and ML.ENERGY v3 (vLLM 0.11) on H100
ENGINES: Final[dict[str, Engine]] = {
    one.name: one
    for one in (
        Engine("vllm", step_s=0.6e-3, sequence_s=30e-6, first_s=25e-3, wave_share=0.08),
        Engine("trtllm", step_s=0.4e-3, sequence_s=9e-6, first_s=40e-3, wave_share=0.40),
    )
}


def engine_named(name: str) -> Engine:
    """Return the engine. Raises ``UserError`` with the nearest name."""
    if name not in ENGINES:
        raise UserError(f"unknown engine {name!r}{nearest(name, ENGINES)}", f"known: {', '.join(ENGINES)}")
    return ENGINES[name]

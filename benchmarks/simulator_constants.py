"""The constants that are fitted to served rows as a whole: four of each engine, two of power."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from autotune_backends.simulated.devices import device_named
from autotune_backends.simulated.engines import ENGINES, Engine
from autotune_backends.simulated.power import DevicePower, device_power
from benchmarks.simulator_kernels import robust
from benchmarks.simulator_rows import rows
from benchmarks.simulator_served import Chat, Served, chats, logs, served

__all__ = ["CHAT_ENGINE", "Constants", "all_chats", "all_served", "fit_constants", "shipped_constants"]

CHAT_ENGINE = "vllm"  # under which energy was measured
_START = Engine("", step_s=0.5e-3, sequence_s=20e-6, first_s=10e-3, token_s=20e-6)
_START_GAINS = (4.0, 1.0, 4.0)
_WITHIN = math.log(2)
"""Constants are those above within a factor of two, before a row is seen."""
_FIRST_TYPICAL, _FIRST_WITHIN = 0.3, math.log(1.5)
"""Errors of first tokens are larger, and few were measured: their constants are held closer to the guess."""


@dataclass(frozen=True, slots=True)
class Constants:
    """``engines`` by name. ``power``: of H100, on which alone it was measured."""

    engines: dict[str, Engine]
    power: DevicePower


def fit_constants(points: Sequence[Served], talks: Sequence[Chat]) -> Constants:
    """Fit them to these rows."""
    engines = {
        name: _fit_engine(
            name,
            [one for one in points if one.engine == name],
            talks if name == CHAT_ENGINE else (),
        )
        for name in ENGINES
    }
    return Constants(engines, _fit_power(talks, engines[CHAT_ENGINE]))


def _fit_engine(name: str, points: Sequence[Served], talks: Sequence[Chat]) -> Engine:
    """Times a token tell what a step and a sequence add; then first tokens of few users, what a request waits for."""

    def of_tokens(values: Sequence[float]) -> list[float]:
        engine = replace(_START, name=name, step_s=values[0], sequence_s=values[1])
        shares = [one.tpot(one.loop(engine)) for one in points] + [one.rate(one.loop(engine)) for one in talks]
        return logs(shares)

    step_s, sequence_s = robust(of_tokens, (_START.step_s, _START.sequence_s), known=_WITHIN)
    known = replace(_START, name=name, step_s=step_s, sequence_s=sequence_s)
    first = [one for one in points if one.few_users]

    def of_first(values: Sequence[float]) -> list[float]:
        engine = replace(known, first_s=values[0], token_s=values[1])
        return logs(one.ttft(one.loop(engine)) for one in first)

    first_s, token_s = robust(of_first, (_START.first_s, _START.token_s), typical=_FIRST_TYPICAL, known=_FIRST_WITHIN)
    return replace(known, first_s=first_s, token_s=token_s)


def _fit_power(talks: Sequence[Chat], engine: Engine) -> DevicePower:
    limits = device_named("h100-sxm").power
    assert limits is not None
    loops = [one.loop(engine) for one in talks]

    def at(values: Sequence[float]) -> DevicePower:
        return DevicePower(limits.idle_w, limits.peak_w, *values)

    def residuals(values: Sequence[float]) -> list[float]:
        return logs(one.power(loop, at(values)) for one, loop in zip(talks, loops, strict=True))

    return at(robust(residuals, _START_GAINS, known=_WITHIN))


def shipped_constants() -> Constants:
    """Those that the simulator uses."""
    power = device_power(device_named("h100-sxm").power)
    assert power is not None
    return Constants(dict(ENGINES), power)


@cache
def all_served() -> tuple[Served, ...]:
    """Every served point."""
    return tuple(served(rows("serving_measured.csv")))


@cache
def all_chats() -> tuple[Chat, ...]:
    """Every chat whose energy was measured."""
    return tuple(chats(rows("energy_measured.csv")))

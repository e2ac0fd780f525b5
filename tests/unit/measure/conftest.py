from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace, TracebackType
from typing import Self

import numpy as np
import pytest

from autotune.core.samples import Requests, Samples, Tensors
from autotune.core.workload import Phase
from autotune.measure import PhaseLoad
from autotune.measure.disturbance import NoWatch


class VirtualClock:
    """Time that passes only when something says so."""

    def __init__(self) -> None:
        self.time_s = 0.0

    def now_s(self) -> float:
        return self.time_s

    def unix_s(self) -> float:
        return 1.8e9 + self.time_s

    def sleep(self, seconds: float) -> None:
        self.time_s += seconds


class FakeSession:
    """A session in virtual time: ``speed(now_s)`` is the seconds that a request takes at that moment.

    The first ``cold_runs`` after an idle gap take three times as long. ``cpu`` CPUs are busy while it runs.
    ``order``: where each round, and each pause, is noted, by the session's ``name``.
    """

    def __init__(
        self,
        clock: VirtualClock,
        speed: Callable[[float], float],
        name: str = "A",
        order: list[str] | None = None,
        cold_runs: int = 0,
        cpu: float = 1.0,
    ) -> None:
        self.clock, self.speed, self.cold_runs, self.cpu = clock, speed, cold_runs, cpu
        self.name, self.order = name, [] if order is None else order
        self.paused = False
        self.counts: list[int] = []
        self._cold = cold_runs

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def outputs(self, inputs: Tensors) -> Tensors:
        return inputs

    def run(self, requests: Requests, count: int) -> Samples:
        assert not self.paused, "a paused session was asked to run"
        self.counts.append(count)
        self.order.append(self.name)
        latencies = np.asarray([self._one() for _ in range(count)])
        wall = float(latencies.sum())
        return Samples(latencies, requests.items, wall, cpu_s=wall * self.cpu, memory_bytes=1000)

    def pause(self) -> None:
        self.paused, self._cold = True, self.cold_runs

    def resume(self) -> None:
        self.paused = False

    def _one(self) -> float:
        seconds = self.speed(self.clock.now_s()) * (3 if self._cold > 0 else 1)
        self._cold -= 1
        self.clock.sleep(seconds)
        return seconds


class ScriptedWatch:
    """Says of each round what a list says, then nothing."""

    def __init__(self, *reasons: str) -> None:
        self.reasons = list(reasons)

    def start(self) -> None: ...

    def stop(self, samples: Samples) -> tuple[str, ...]:
        reason = self.reasons.pop(0) if self.reasons else ""
        return (reason,) if reason else ()


def noisy(base_s: float, spread: float, seed: int = 0) -> Callable[[float], float]:
    """A speed with independent noise, ``spread`` relative to ``base_s``."""
    generator = np.random.default_rng(seed)
    return lambda _now_s: base_s * float(1 + spread * generator.standard_normal())


def load(scenario: str = "single_stream", items: int = 1) -> PhaseLoad:
    return PhaseLoad(Phase(scenario=scenario), Requests(scenario, ({"x": np.ones(1)},), items))


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def fake(clock: VirtualClock) -> SimpleNamespace:
    """What these tests are made of: sessions in virtual time and what they are run with."""
    return SimpleNamespace(
        session=lambda speed, **options: FakeSession(clock, speed, **options),
        noisy=noisy,
        load=load,
        watch=NoWatch(),
        scripted_watch=ScriptedWatch,
    )

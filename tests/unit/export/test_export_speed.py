"""Verification of speed, in virtual time: two sessions on a machine that drifts and jumps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import pytest

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.deployment import ExportedConfig
from autotune.core.device import DeviceSpec
from autotune.core.samples import Requests, Samples, Tensors
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN
from autotune.export.speed_check import Speed, check_speed
from autotune.measure.disturbance import NoWatch
from autotune.measure.round_statistic import BY_QUARTILE
from autotune.replay.instruments import Instruments
from autotune.replay.sides import Sides

INPUTS = ({"x": np.zeros((1, 2), dtype=np.float32)},)
BASE_S = 5e-3


class VirtualClock:
    def __init__(self) -> None:
        self.time_s = 0.0

    def now_s(self) -> float:
        return self.time_s

    def unix_s(self) -> float:
        return self.time_s

    def sleep(self, seconds: float) -> None:
        self.time_s += seconds


class NoisyMachine:
    """Its speed drifts by up to 30 %, and jumps between two levels 25 % apart every few seconds; each round has its noise."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.period_s = self.generator.uniform(20, 60)
        self.phase = self.generator.uniform(0, 2 * np.pi)
        self.level, self.until_s = 1.0, 0.0

    def slowness(self, now_s: float) -> float:
        while now_s >= self.until_s:
            self.level = float(self.generator.choice([1.0, 1.25]))
            self.until_s += float(self.generator.exponential(3.0))
        return self.level * (1 + 0.15 * np.sin(2 * np.pi * now_s / self.period_s + self.phase))


class VirtualSession:
    """A round takes ``base_s`` a request, times the machine's slowness, times noise of 3 %; each process differs by 1 %."""

    def __init__(self, base_s: float, clock: VirtualClock, machine: NoisyMachine) -> None:
        self.clock, self.machine = clock, machine
        self.base_s = base_s * (1 + 0.01 * machine.generator.standard_normal())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def outputs(self, inputs: Tensors) -> Tensors:
        return inputs

    def run(self, requests: Requests, count: int) -> Samples:
        slowness = self.machine.slowness(self.clock.now_s()) * (
            1 + 0.03 * abs(self.machine.generator.standard_normal())
        )
        latency = np.full(count, self.base_s * slowness)
        self.clock.sleep(float(latency.sum()))
        return Samples(latency, requests.items, float(latency.sum()), memory_bytes=1000)

    def pause(self) -> None: ...

    def resume(self) -> None: ...


def promised(config: ExportedConfig) -> ExportedConfig:
    """Half of the original's latency, known to 1 %."""
    promise = config.promise.model_copy(
        update={
            "metrics": {
                "latency_p50": Value(value=BASE_S / 2, unit="s", low=0.98 * BASE_S / 2, high=1.02 * BASE_S / 2)
            },
            "ratios": {"latency_p50": Value(value=0.5, unit="1", low=0.495, high=0.505)},
            "workload": BUILT_IN["latency"],
        }
    )
    return config.model_copy(update={"promise": promise})


def artifact(name: str) -> Artifact:
    return Artifact(
        backend="", folder=Path(name), model=name, files=(name,), sha256="", size_bytes=0, candidate=Candidate()
    )


def check(
    config: ExportedConfig,
    seed: int,
    slower: float = 1.0,
    *,
    paired: bool = True,
    opened: Callable[[str], object] = lambda name: None,
    budget_s: float = 120.0,
) -> Speed:
    clock, machine = VirtualClock(), NoisyMachine(seed)
    speeds = {"exported": BASE_S / 2 * slower, "original": BASE_S}

    def open_side(side: Artifact, device: DeviceSpec) -> VirtualSession:
        opened(side.model)
        return VirtualSession(speeds[side.model], clock, machine)

    both = Sides(artifact("exported"), artifact("original") if paired else None, None, config.device)
    return check_speed(promised(config), both, INPUTS, budget_s, Instruments(clock, None, open_side, NoWatch()))


def verdicts(config: ExportedConfig, slower: float, *, paired: bool = True) -> list[str]:
    return [check(config, seed, slower, paired=paired).compared[0].verdict for seed in range(20)]


def test_unchanged_export_is_kept_on_a_machine_that_drifts(config: ExportedConfig) -> None:
    assert verdicts(config, 1.0).count("kept") >= 19


def test_slow_down_of_a_tenth_is_broken_on_a_machine_that_drifts(config: ExportedConfig) -> None:
    assert verdicts(config, 1.1).count("broken") >= 19


class TailedSession(VirtualSession):
    """Two thirds of its requests take a fifth longer than the rest: its median is above its lower quartile."""

    def run(self, requests: Requests, count: int) -> Samples:
        even = super().run(requests, count)
        latency = even.latency_s * np.where(np.arange(count) % 3 == 0, 1.0, 1.2)
        return Samples(latency, even.items, float(latency.sum()), memory_bytes=1000)


@pytest.mark.parametrize(("slower", "verdict"), [(1.0, "kept"), (1.12, "broken")])
def test_a_promise_from_a_disturbed_machine_is_judged_in_its_own_terms(
    config: ExportedConfig, slower: float, verdict: str
) -> None:
    clock, machine = VirtualClock(), NoisyMachine(3)

    def open_side(side: Artifact, device: DeviceSpec) -> VirtualSession:
        if side.model == "original":
            return VirtualSession(BASE_S, clock, machine)
        return TailedSession(BASE_S / 2 * slower, clock, machine)

    ours = promised(config)
    ratio = ours.promise.ratios["latency_p50"].model_copy(update={"basis": BY_QUARTILE})
    ours = ours.model_copy(update={"promise": ours.promise.model_copy(update={"ratios": {"latency_p50": ratio}})})
    both = Sides(artifact("exported"), artifact("original"), None, ours.device)
    found = check_speed(ours, both, INPUTS, 120.0, Instruments(clock, None, open_side, NoWatch()))
    assert found.compared[0].verdict == verdict


def test_without_the_original_drift_breaks_nothing_but_a_doubled_latency_is_seen(config: ExportedConfig) -> None:
    assert verdicts(config, 1.0, paired=False).count("kept") == 20
    assert verdicts(config, 2.2, paired=False).count("broken") == 20


def test_broken_is_said_after_a_second_attempt_in_fresh_processes(config: ExportedConfig) -> None:
    opened: list[str] = []
    found = check(config, 0, 1.3, opened=opened.append)
    assert found.compared[0].verdict == "broken"
    assert found.attempts == 2
    assert opened == ["exported", "original"] * 2


def test_clearly_kept_needs_one_attempt(config: ExportedConfig) -> None:
    assert check(config, 0, 0.9).attempts == 1


def test_budget_without_time_for_another_attempt_is_said(config: ExportedConfig) -> None:
    found = check(config, 0, 1.3, budget_s=0.1)
    assert found.attempts == 1
    assert "--budget" in found.notes[-1]


@pytest.mark.parametrize("budget_s", [20.0, 120.0])
def test_budget_is_kept(config: ExportedConfig, budget_s: float) -> None:
    clock, machine = VirtualClock(), NoisyMachine(1)

    def open_side(side: Artifact, device: DeviceSpec) -> VirtualSession:
        return VirtualSession(BASE_S / 2 * 1.3 if side.model == "exported" else BASE_S, clock, machine)

    both = Sides(artifact("exported"), artifact("original"), None, config.device)
    check_speed(promised(config), both, INPUTS, budget_s, Instruments(clock, None, open_side, NoWatch()))
    assert clock.now_s() <= budget_s * 1.1

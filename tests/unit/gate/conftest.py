"""Gates in virtual time: two models on a machine that drifts and jumps, with outputs that the test decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Self

import numpy as np
import pytest

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.deployment import Deployment, ExportedConfig, SessionSettings
from autotune.core.device import DeviceSpec
from autotune.core.errors import MeasureError, OpenError
from autotune.core.samples import Requests, Samples, Tensors
from autotune.core.serving import Load, OpenLoop, Served
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN
from autotune.export import exported_config
from autotune.gate.comparing import Terms, gate_sides
from autotune.gate.quality import Questions
from autotune.gate.sides import Side
from autotune.gate.speed import Effort
from autotune.gate.verdict import GateReport
from autotune.measure.disturbance import NoWatch
from autotune.replay.instruments import Instruments
from autotune.testing.sample_search import sample_front, sample_search
from autotune.testing.virtual_clock import VirtualClock

BASE_S = 5e-3


class NoisyMachine:
    """Its speed drifts by up to 30 %, and jumps between two levels 25 % apart every few seconds."""

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


@dataclass
class Model:
    """``answer`` gives the outputs for an input; ``fault`` is raised when it is opened (``OpenError``) or run."""

    base_s: float = BASE_S
    answer: Callable[[Tensors], Tensors] = lambda inputs: {"scores": inputs["x"]}
    memory_bytes: int = 100_000_000
    size_bytes: int = 1_000_000
    fault: Exception | None = None


@dataclass
class VirtualSession:
    """Each round has noise of 3 %, each process differs by half a percent for good."""

    model: Model
    clock: VirtualClock
    machine: NoisyMachine
    arrivals: list[Any] = field(default_factory=list)
    base_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.base_s = self.model.base_s * (1 + 0.005 * self.machine.generator.standard_normal())

    def __enter__(self) -> Self:
        if isinstance(self.model.fault, OpenError):
            raise self.model.fault
        self.clock.sleep(0.7)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def outputs(self, inputs: Tensors) -> Tensors:
        if self.model.fault is not None:
            raise self.model.fault
        return self.model.answer(inputs)

    def run(self, requests: Requests, count: int) -> Samples:
        noise = 1 + 0.03 * abs(self.machine.generator.standard_normal())
        latency = np.full(count, self.base_s * self.machine.slowness(self.clock.now_s()) * noise)
        self.clock.sleep(float(latency.sum()))
        return Samples(latency, requests.items, float(latency.sum()), memory_bytes=self.model.memory_bytes)

    def serve(self, requests: Requests, load: Load) -> Served:
        """One instance, first come, first served."""
        assert isinstance(load, OpenLoop)
        self.arrivals.append(load.arrivals_s)
        free, latency = 0.0, []
        for arrival in load.arrivals_s:
            noise = 1 + 0.03 * abs(self.machine.generator.standard_normal())
            free = max(free, arrival) + self.base_s * self.machine.slowness(self.clock.now_s()) * noise
            latency.append(free - arrival)
        count, wall = len(latency), max(free, float(load.arrivals_s[-1]))
        self.clock.sleep(wall)
        return Served(
            load.arrivals_s,
            np.asarray(latency),
            np.zeros(count),
            np.ones(count, dtype=np.int64),
            busy_s=count * self.base_s,
            wall_s=wall,
            memory_bytes=self.model.memory_bytes,
        )

    def pause(self) -> None: ...

    def resume(self) -> None: ...


def inputs(count: int = 8, classes: int = 10) -> list[Tensors]:
    return [{"x": row[None]} for row in np.random.default_rng(0).normal(size=(count, classes)).astype(np.float32)]


def artifact(name: str, size_bytes: int) -> Artifact:
    return Artifact(
        backend="onnxruntime",
        folder=Path(name),
        model=name,
        files=(name,),
        sha256=name,
        size_bytes=size_bytes,
        candidate=Candidate(),
    )


@pytest.fixture
def config(tmp_path: Path) -> ExportedConfig:
    """A baseline that promises nothing in particular, under single requests of batch 1 alone."""
    search = sample_search(tmp_path / "run")
    front = sample_front(search)
    deployment = Deployment(runtime="onnxruntime", model="m.onnx", files=("m.onnx",), session=SessionSettings())
    made = exported_config(front, front.baseline, deployment, search)
    promise = made.promise.model_copy(
        update={"workload": BUILT_IN["latency"], "metrics": {"latency_p50": Value(value=BASE_S, unit="s")}}
    )
    return made.model_copy(update={"promise": promise})


@pytest.fixture
def gates(config: ExportedConfig) -> SimpleNamespace:
    """``run(head, baseline, …)`` gates two virtual models; ``clock`` is that of the latest run."""
    made = SimpleNamespace(Model=Model, inputs=inputs, opened=[], arrivals=[], config=config)

    def run(
        head: Model | None = None,
        baseline: Model | None = None,
        *,
        seed: int = 0,
        labels: list[Any] | None = None,
        count: int = 8,
        budget_s: float = 60.0,
        max_budget_s: float = 180.0,
        changes: dict[str, Any] | None = None,
        **terms: Any,
    ) -> GateReport:
        models = {"head": head or Model(), "baseline": baseline or Model()}
        clock, machine = VirtualClock(), NoisyMachine(seed)
        made.clock = clock

        def open_side(side: Artifact, device: DeviceSpec) -> VirtualSession:
            made.opened.append(side.model)
            return VirtualSession(models[side.model], clock, machine, made.arrivals)

        sides = {
            who: Side(who, who, artifact(who, models[who].size_bytes), 1, original_sha256="0")  # type: ignore[arg-type]
            for who in models
        }
        asked = inputs(count)
        told = labels if labels is not None else [None] * count
        batches = tuple((one, [label]) for one, label in zip(asked, told, strict=True))
        return gate_sides(
            sides["head"],
            sides["baseline"],
            config.model_copy(update=changes or {}),
            Questions(batches, tuple({"scores": one["x"]} for one in asked)),
            Terms(Effort(budget_s, max_budget_s, clock), **terms),
            Instruments(clock, None, open_side, NoWatch()),  # type: ignore[arg-type]
            config.environment,
        )

    made.run = run
    made.MeasureError, made.OpenError = MeasureError, OpenError
    return made

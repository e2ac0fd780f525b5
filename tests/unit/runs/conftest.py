from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autotune.core.assignment import SearchContext
from autotune.core.candidate import Candidate
from autotune.core.dataset import DataFacts, Split
from autotune.core.device import DeviceSpec
from autotune.core.environment import Environment
from autotune.core.model import ModelFacts, TensorFacts
from autotune.core.objective import objective
from autotune.core.plan import Plan
from autotune.core.space import Parameter, SearchSpace
from autotune.core.trial import Measurement, Trial, TrialRecord
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN
from autotune.runs.folder import RunFolder
from autotune.runs.search_file import SearchedModel, SearchFile

BASELINE = Candidate(runtime="fake")
ENVIRONMENT = Environment(cpu_model="x", isa=(), cpus=2, memory_bytes=None, os="linux", python="3.11")


def context(folder: Path) -> SearchContext:
    return SearchContext(
        folder=folder,
        model=ModelFacts(
            path=Path("/models/m.onnx"),
            format="onnx",
            sha256="0" * 64,
            files=("m.onnx",),
            size_bytes=10,
            inputs=(TensorFacts(name="x", dtype="float32", shape=(1, 4)),),
            outputs=(TensorFacts(name="y", dtype="float32", shape=(1, 4)),),
        ),
        devices=(DeviceSpec(name="cpu", cpus=2),),
        workload=BUILT_IN["default"],
        objectives=(objective("latency_p50"),),
        data=DataFacts(
            path=None,
            sha256="d",
            count=4,
            labels=False,
            split=Split(calibrate=(0,), select=(0,), confirm=(0,), whole=True),
        ),
        baseline=BASELINE,
        reference=BASELINE,
        build_parameters=("runtime",),
        environment=ENVIRONMENT,
    )


def search(folder: Path) -> SearchFile:
    shared = context(folder)
    return SearchFile(
        id="s1",
        created="2026-11-30T00:00:00Z",
        kind="real",
        model=SearchedModel(path=shared.model.path, sha256=shared.model.sha256, format="onnx", inputs=("x",)),
        space=SearchSpace(
            name="fake",
            parameters=(Parameter(name="runtime", choices=("fake",)),),
            baseline=BASELINE,
            reference=BASELINE,
        ),
        devices=shared.devices,
        workload=shared.workload,
        objectives=shared.objectives,
        data=shared.data,
        environment=ENVIRONMENT,
        context=shared,
    )


def _record(id: str, started_s: float = 0.0, finished_s: float = 1.0) -> TrialRecord:
    return TrialRecord(
        trial=Trial(id=id, key=id, candidate=BASELINE, device="cpu", plan=Plan()),
        started_s=started_s,
        finished_s=finished_s,
        outcome=Measurement(metrics={"latency_p50": Value(value=0.001, unit="s")}),
    )


class FakeClock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now_s(self) -> float:
        return self.time

    def unix_s(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def run(tmp_path: Path, clock: FakeClock) -> RunFolder:
    return RunFolder.create(tmp_path / "run", search(tmp_path / "run"), clock)


@pytest.fixture
def record() -> Callable[..., TrialRecord]:
    """Makes a record: its id, then when it started and finished."""
    return _record


@pytest.fixture
def searched() -> Callable[[Path], SearchFile]:
    """Makes the search of a folder."""
    return search

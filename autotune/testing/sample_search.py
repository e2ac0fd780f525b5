"""A small search as data: its file, records of every kind of outcome, and a front. For tests of trackers and reports."""

from __future__ import annotations

from pathlib import Path

from autotune.core.assignment import SearchContext
from autotune.core.candidate import Candidate
from autotune.core.dataset import DataFacts, Split
from autotune.core.device import DeviceSpec
from autotune.core.environment import Environment
from autotune.core.front import BASELINE_ID, Front, Point
from autotune.core.limits import parse_limit
from autotune.core.model import ModelFacts, TensorFacts
from autotune.core.objective import objective
from autotune.core.plan import Plan
from autotune.core.space import Parameter, SearchSpace
from autotune.core.trial import Failure, Measurement, Outcome, Purpose, SameAs, Trial, TrialRecord
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN
from autotune.runs.search_file import SearchedModel, SearchFile

__all__ = ["sample_front", "sample_record", "sample_records", "sample_search"]

_BASELINE = Candidate(runtime="onnxruntime", precision="fp32", threads=2, spinning=True)
_STARTED_S = 1_764_460_800.0
_METRICS = ("latency_p50", "throughput", "energy", "fidelity")


def sample_search(
    folder: Path, search_id: str = "s1", stem: str = "digits", limits: tuple[str, ...] = ()
) -> SearchFile:
    """A search over four parameters, one of them conditional, with four objectives. Nothing in ``folder`` is read."""
    context = _context(folder, stem, limits)
    return SearchFile(
        id=search_id,
        created="2026-11-30T00:00:00Z",
        kind="real",
        model=SearchedModel(path=context.model.path, sha256="0" * 64, format="onnx", inputs=("x",)),
        space=_space(),
        devices=context.devices,
        workload=context.workload,
        objectives=context.objectives,
        limits=limits,
        budget_s=60.0,
        data=context.data,
        environment=context.environment,
        context=context,
    )


def sample_record(number: int, outcome: Outcome | None = None, purpose: Purpose = "search") -> TrialRecord:
    """Trial ``number``; 0 is the baseline. ``outcome`` None: it was measured, and numbers grow with ``number``."""
    trial = Trial(
        id=f"t{number:04d}",
        key=f"{number:064x}",
        parent="t0000" if number else None,
        candidate=_candidate(number),
        device="cpu",
        plan=Plan(name=purpose, paired=purpose == "front"),
        repeat=int(purpose == "front"),
        purpose=purpose if number else "baseline",
    )
    started_s = _STARTED_S + 2.0 * number
    return TrialRecord(
        trial=trial, started_s=started_s, finished_s=started_s + 1.5, outcome=outcome or _measured(number)
    )


def sample_records() -> list[TrialRecord]:
    """A baseline, two measured trials, one of each other outcome, and the three re-measured ones."""
    return [
        sample_record(0),
        sample_record(1),
        sample_record(2),
        sample_record(3, Failure(stage="open", cause="unsupported", message="No kernel for\nQLinearConv(10)")),
        sample_record(4, SameAs(trial="t0001", reason="dynamic int8 changed nothing")),
        sample_record(5, purpose="front"),
        sample_record(6, purpose="front"),
        sample_record(7, purpose="front"),
    ]


def sample_front(search: SearchFile) -> Front:
    """The baseline (measured again as t0005) and two points found by t0001 and t0002 (measured again as t0006, t0007)."""
    baseline = _point(BASELINE_ID, 5)
    points = (_point("t0001", 6), _point("t0002", 7))
    return Front(
        search=search.id,
        kind=search.kind,
        quality="fidelity",
        objectives=search.objectives,
        limits=search.limits,
        workload=search.workload,
        environment=search.environment,
        baseline=baseline,
        points=points,
        knee="t0002",
    )


def _context(folder: Path, stem: str, limits: tuple[str, ...]) -> SearchContext:
    tensors = (
        TensorFacts(name="x", dtype="float32", shape=("N", 8)),
        TensorFacts(name="y", dtype="float32", shape=("N", 2)),
    )
    file = f"{stem}.onnx"
    return SearchContext(
        folder=folder,
        model=ModelFacts(
            path=folder.parent / file,
            format="onnx",
            sha256="0" * 64,
            files=(file,),
            size_bytes=1000,
            inputs=tensors[:1],
            outputs=tensors[1:],
        ),
        devices=(DeviceSpec(name="cpu", cpus=2),),
        workload=BUILT_IN["default"],
        objectives=tuple(objective(name) for name in _METRICS),
        limits=tuple(parse_limit(text) for text in limits),
        data=DataFacts(
            path=None, sha256="1" * 64, count=8, labels=False, split=Split(calibrate=(), select=(0,), confirm=(1,))
        ),
        baseline=_BASELINE,
        reference=_BASELINE,
        build_parameters=("precision", "block"),
        environment=Environment(cpu_model="a CPU", isa=(), cpus=2, memory_bytes=None, os="linux", python="3.11"),
    )


def _space() -> SearchSpace:
    return SearchSpace(
        name="onnx",
        parameters=(
            Parameter(name="runtime", choices=("onnxruntime",)),
            Parameter(name="precision", choices=("fp32", "int8"), affects="build"),
            Parameter(name="block", choices=(16, 32), requires={"precision": ("int8",)}, affects="build"),
            Parameter(name="threads", choices=(1, 2)),
            Parameter(name="spinning", choices=(True, False)),
        ),
        baseline=_BASELINE,
        reference=_BASELINE,
    )


def _candidate(number: int) -> Candidate:
    if number % 2 == 0:
        return _BASELINE.with_(threads=1 + number // 2 % 2) if number else _BASELINE
    return _BASELINE.with_(precision="int8", block=16 * (1 + number // 2 % 2), spinning=False)


def _measured(number: int) -> Measurement:
    return Measurement(metrics=_metrics(number), artifact="a" * 64)


def _metrics(number: int) -> dict[str, Value]:
    latency, throughput, fidelity = 0.004 / (1 + number), 250.0 * (1 + number), 1.0 - 0.001 * number
    return {
        "latency_p50": Value(value=latency, unit="s", low=0.99 * latency, high=1.01 * latency, n=100),
        "throughput": Value(value=throughput, unit="1/s", low=0.98 * throughput, high=1.02 * throughput, n=50),
        "energy": Value(value=0.02 / (1 + number), unit="J", provenance="estimated", basis="a power model"),
        "fidelity": Value(value=fidelity, unit="1"),
        "memory": Value(value=None, unit="bytes"),
    }


def _point(name: str, number: int) -> Point:
    ratio = Value(value=1.0 / (1 + number), unit="1", low=0.9 / (1 + number), high=1.1 / (1 + number))
    return Point(
        id=name,
        trial=f"t{number:04d}",
        device="cpu",
        candidate=_candidate(number),
        metrics=_metrics(number),
        ratios={} if name == BASELINE_ID else {"latency_p50": ratio},
        artifact="a" * 64,
    )

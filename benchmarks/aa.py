"""A against A: what the measuring path itself adds. Everything here is compared with its equal and has to read 1.

    python -m benchmarks.aa [--json] [--quick] [--seed N]

First the baseline against itself through the whole paired path: front trials in Ray workers, and the same with the sides
swapped. Then latency inside a Ray trial against a bare process that needs onnxruntime alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from autotune.api.prepare import prepare
from autotune.api.settings import SearchSettings
from autotune.core.clock import SystemClock
from autotune.core.keys import trial_key
from autotune.core.plan import Plan
from autotune.core.ports import Executor
from autotune.core.trial import Measurement, Purpose, Trial
from autotune.core.values import Value
from autotune.measure import Against, measure
from autotune.measure.intervals import median_interval
from autotune.runs.folder import RunFolder
from autotune.runs.search_file import SearchFile
from autotune_backends.onnxruntime.settings import session_settings
from autotune_trials.ray_executor import RayExecutor
from autotune_trials.ray_pausing import daemons_of, paused
from benchmarks.built_models import conv_stack
from benchmarks.report import Figure, arguments, finish
from benchmarks.subject import Subject, subject
from benchmarks.wheel_models import digits

PAIRED = Plan(name="front", paired=True, max_rounds=200, phase_limit_s=5.0, quality="confirm")
ALONE = Plan(name="alone", max_rounds=40, precision=0.002, phase_limit_s=2.0)
REPEATS, QUICK_REPEATS = 10, 3
TIMED, QUICK_TIMED = 16, 6
NEAR = 0.02
BARE_NEAR = 0.03

BARE = """
import json, sys, time
import numpy, onnxruntime
told = json.loads(sys.argv[1])
options = onnxruntime.SessionOptions()
for name, value in told["options"].items():
    kind = type(getattr(options, name))
    setattr(options, name, kind.__members__[value] if hasattr(kind, "__members__") else value)
for name, value in told["config_entries"].items():
    options.add_session_config_entry(name, value)
session = onnxruntime.InferenceSession(told["model"], options, providers=told["providers"])
with numpy.load(told["inputs"]) as arrays:
    feeds = [{told["name"]: row} for row in arrays["rows"]]
seconds, ends = [], time.perf_counter() + 3.0
while time.perf_counter() < ends:
    began = time.perf_counter()
    session.run(None, feeds[len(seconds) % len(feeds)])
    seconds.append(time.perf_counter() - began)
print(numpy.median(seconds[len(seconds) // 4:]))
"""


@dataclass(frozen=True)
class Case:
    """A model, its data (None: generated) and its name in figures."""

    name: str
    model: Path
    data: Path | None


def main() -> int:
    """Measure and print."""
    asked = arguments(__doc__)
    repeats, timed = (QUICK_REPEATS, QUICK_TIMED) if asked.quick else (REPEATS, TIMED)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for case in cases(place):
            with bench(case, place / case.name) as one:
                figures += paired_figures(case.name, one, repeats)
                figures.append(bare_figure(case.name, one, timed, place))
    return finish("aa", figures, as_json=asked.json)


def cases(place: Path) -> tuple[Case, ...]:
    """The shipped model, a quarter of a millisecond a run, and a heavier one."""
    model, data = digits(place)
    return Case("digits", model, data), Case("heavier", conv_stack(place / "heavier.onnx", channels=64), None)


@dataclass
class Bench:
    """The baseline of one model: as trials of an executor, and as sessions of this process."""

    search: SearchFile
    executor: Executor
    subject: Subject
    number: int = 0

    def trial(self, plan: Plan, purpose: Purpose) -> Measurement:
        """Measure the baseline once in a Ray worker."""
        self.number += 1
        context = self.search.context
        device, candidate = context.devices[0].name, context.baseline
        trial = Trial(
            id=f"{purpose[0]}{self.number:04d}",
            key=trial_key(context, candidate, device, plan, self.number),
            candidate=candidate,
            device=device,
            plan=plan,
            repeat=self.number,
            purpose=purpose,
        )
        self.executor.submit(trial)
        while not (records := self.executor.wait(60.0)):
            pass
        outcome = records[0].outcome
        assert isinstance(outcome, Measurement), outcome
        return outcome


@contextmanager
def bench(case: Case, place: Path) -> Iterator[Bench]:
    """Start Ray for a prepared search of the model."""
    settings = SearchSettings(
        model=case.model,
        data=None if case.data is None else str(case.data),
        output=place / "run",
        tracking=False,
    )
    search = prepare(settings).search
    RunFolder.create(search.context.folder, search)
    executor = RayExecutor(search.context)
    try:
        yield Bench(search, executor, subject(case.model, place / "subject", case.data, search.workload.name))
    finally:
        executor.shutdown()


def paired_figures(name: str, one: Bench, repeats: int) -> list[Figure]:
    """The worst of the repeats, by metric and order; the two orders take turns."""
    found: dict[str, list[dict[str, float]]] = {"baseline second": [], "baseline first": []}
    for _ in range(repeats):
        found["baseline second"].append(_ratios(one.trial(PAIRED, "front").ratios))
        found["baseline first"].append(swapped(one.subject))
    return [
        _worst(f"{name}, {order}: {metric}", [ratios[metric] for ratios in found[order]])
        for order in found
        for metric in ("latency_p50", "throughput")
    ]


def swapped(one: Subject) -> dict[str, float]:
    """The same measurement with the sides swapped: the session opened first is the one that is compared with."""
    with one.open() as first, one.open() as second:
        against = Against(first, one.loads)
        measured = measure(second, one.loads, PAIRED, clock=SystemClock(), against=against)
    return _ratios(measured.ratios)


def bare_figure(name: str, one: Bench, timed: int, place: Path) -> Figure:
    """Median latency of a trial in a Ray worker / of a bare process, in turns; the order changes from pair to pair."""

    def trial_s() -> float:
        value = one.trial(ALONE, "search").metrics["latency_p50"].value
        assert value is not None
        return value

    told = bare_settings(one, place / f"{name}.npz")
    ratios = [_in_turns(number, trial_s, lambda: bare_s(told)) for number in range(timed)]
    interval = median_interval(np.asarray(ratios), block=2)
    ends = "" if interval.low is None else f", {interval.low:.3f} to {interval.high:.3f}"
    held = abs(interval.value - 1) <= BARE_NEAR
    return Figure(
        f"{name}: latency in a Ray trial / bare process ({timed} pairs{ends})", interval.value, "×", "1.00 ± 0.03", held
    )


def bare_settings(one: Bench, inputs: Path) -> str:
    """What the bare process is told: the session's settings, and where the inputs are."""
    context = one.search.context
    settings = session_settings(context.baseline, context.devices[0].cpus or 1)
    (name,) = one.subject.inputs[0]
    np.savez(inputs, rows=np.stack([request[name] for request in one.subject.inputs]))
    artifact = one.subject.artifact
    told = {"model": str(artifact.folder / artifact.model), "inputs": str(inputs), "name": name}
    return json.dumps(settings.model_dump(mode="json") | told)


def bare_s(told: str) -> float:
    """The median latency that a bare process finds. Ray pauses, as it does while a trial runs."""
    with paused(daemons_of(psutil.Process())):
        done = subprocess.run([sys.executable, "-c", BARE, told], capture_output=True, text=True, check=True)
    return float(done.stdout)


def _in_turns(number: int, trial_s: Callable[[], float], bare: Callable[[], float]) -> float:
    if number % 2:
        divisor = bare()
        return trial_s() / divisor
    return trial_s() / bare()


def _ratios(ratios: Mapping[str, Value]) -> dict[str, float]:
    return {name: value.value for name, value in ratios.items() if value.value is not None}


def _worst(name: str, ratios: list[float]) -> Figure:
    worst = max(ratios, key=lambda ratio: abs(ratio - 1))
    said = f"{name}, worst of {len(ratios)} (median {np.median(ratios):.3f})"
    return Figure(said, worst, "×", "1.00 ± 0.02", abs(worst - 1) <= NEAR)


if __name__ == "__main__":
    sys.exit(main())

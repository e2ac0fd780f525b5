"""Structured pruning: how much faster, and how much less accurate, against the model as it is, side by side.

    python -m benchmarks.pruning [--quick] [--json] [--seed N] [--models digits,wide_digits] [--keep FOLDER] [--recover SECONDS]

Each pruned model runs pair by pair beside the original, at the smallest batch for which that one takes 5 ms. Accuracy is paired
sample by sample with the original's, on labelled samples that nothing was calibrated on. ``--quick``: the shipped digits
alone. ``wide_digits`` is trained first (extra ``bench``), or found in ``--keep``. ``--recover``: the model pruned to a half is
trained again for so long, too (extra ``torch``).
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autotune import plugins
from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.clock import SystemClock
from autotune.core.plan import Plan
from autotune.core.recovery import PRUNING, RECOVERY
from autotune.core.samples import Tensors
from autotune.core.values import Value
from autotune.data import Dataset, batches, open_dataset
from autotune.measure import Against, PhaseLoad, measure
from autotune.measure.quality import take_quality
from autotune.replay.loads import phase_loads
from benchmarks.report import Figure, argument_parser, finish
from benchmarks.subject import Subject, subject
from benchmarks.trained_models import wide_digits
from benchmarks.wheel_models import digits

_MODELS: Mapping[str, Callable[[Path], tuple[Path, Path]]] = {"digits": digits, "wide_digits": wide_digits}
_WAYS = (("0.3", {PRUNING: 0.3}, 0.01), ("0.5", {PRUNING: 0.5}, 0.02))
"""Name, parameters, and the floor for accuracy lost."""

_MOST_LOST_RECOVERED = 0.01

Way = tuple[str, Mapping[str, float], float]

_FASTER = 1.3
_LONG_ENOUGH_S = 5e-3
_BATCHES = (1, 2, 4, 8, 16, 32, 64)
_PLAN = Plan(name="front", paired=True, max_rounds=100, phase_limit_s=10.0)
_QUICK = _PLAN.model_copy(update={"phase_limit_s": 3.0})


@dataclass(frozen=True)
class Pruned:
    """``speed``: throughput by the original's, ``lost``: its accuracy less this one's; both paired."""

    speed: Value
    lost: Value


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argument_parser(__doc__)
    parser.add_argument("--models", default=",".join(_MODELS), help="which models, by name, with commas between")
    parser.add_argument("--keep", type=Path, help="folder for trained models, to be found there again")
    parser.add_argument("--recover", type=float, help="seconds that the model pruned to a half is trained again for")
    chosen = parser.parse_args()
    ways = [*_WAYS, *_recovered(chosen.recover)]
    names = ["digits"] if chosen.quick else chosen.models.split(",")
    plan = _QUICK if chosen.quick else _PLAN
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="autotune-pruning-") as scratch:
        place = chosen.keep or Path(scratch)
        place.mkdir(parents=True, exist_ok=True)
        for name in names:
            model, data = _MODELS[name](place)
            whole = subject(model, Path(scratch) / name, data, workload="throughput")
            figures += _figures(name, whole, Path(scratch) / f"{name}-pruned", plan, ways)
    return finish("pruning", figures, as_json=chosen.json)


def _recovered(seconds: float | None) -> list[Way]:
    if seconds is None:
        return []
    return [(f"0.5, trained {seconds:g} s", {PRUNING: 0.5, RECOVERY: seconds}, _MOST_LOST_RECOVERED)]


def _figures(name: str, whole: Subject, folder: Path, plan: Plan, ways: Sequence[Way]) -> Iterator[Figure]:
    batch, seconds = _long_enough(whole)
    yield Figure(f"{name}: the original at batch {batch}", seconds * 1e3, "ms")
    for number, (way, changes, most) in enumerate(ways):
        found = _measured(whole, _built(whole, changes, folder / str(number)), batch, plan)
        held = found.lost.value is not None and found.lost.value <= most
        yield _figure(f"{name}: accuracy lost at {way}", found.lost, 100, "points", f"≤ {100 * most:g}", held=held)
        faster = found.speed.value is not None and found.speed.value >= _FASTER
        yield _figure(f"{name}: speed at {way}", found.speed, 1, "×", f"≥ {_FASTER}", held=faster)


def _figure(name: str, value: Value, factor: float, unit: str, floor: str, *, held: bool) -> Figure:
    low, high = (end * factor for end in value.interval())
    shown = None if value.value is None else value.value * factor
    return Figure(name, shown, f"{unit} ({low:.3g} to {high:.3g})", floor, held)


def _long_enough(whole: Subject) -> tuple[int, float]:
    """The smallest batch for which the original takes long enough, else the largest; and the seconds that it takes."""
    with whole.open() as session:
        for batch in _BATCHES:
            (load,) = _loads(whole, batch)
            requests = replace(load.requests, key=f"batch {batch}")
            session.run(requests, 3)
            seconds = statistics.median(session.run(requests, 9).latency_s)
            if seconds >= _LONG_ENOUGH_S:
                break
    return batch, seconds


def _loads(whole: Subject, batch: int) -> tuple[PhaseLoad, ...]:
    return phase_loads(whole.search.workload, whole.inputs, batch)


def _dataset(whole: Subject) -> Dataset:
    return open_dataset(whole.search.context.data, whole.search.context.model)


def _built(whole: Subject, changes: Mapping[str, float], folder: Path) -> Artifact:
    """The candidate, calibrated on that part of the data alone."""
    context, dataset = whole.search.context, _dataset(whole)

    def calibration() -> Iterator[Tensors]:
        return (one for one, _ in batches(dataset, context.data.split.calibrate, context.model))

    folder.mkdir(parents=True)
    candidate = Candidate({**whole.artifact.candidate, **changes})
    backend = plugins.backend(whole.artifact.backend)
    return backend.build(context.model, candidate, context.devices[0], folder, calibration)


def _measured(whole: Subject, artifact: Artifact, batch: int, plan: Plan) -> Pruned:
    device, loads = whole.search.context.devices[0], _loads(whole, batch)
    with plugins.backend(artifact.backend).open(artifact, device) as session, whole.open() as original:
        values = _quality(whole, session.outputs, original.outputs)
        against = Against(original, loads)
        measured = measure(session, loads, plan, clock=SystemClock(), cpus=int(device.cpus or 1), against=against)
    return Pruned(measured.ratios["throughput"], values["accuracy_drop"])


def _quality(
    whole: Subject, run: Callable[[Tensors], Tensors], original: Callable[[Tensors], Tensors]
) -> dict[str, Value]:
    context, dataset = whole.search.context, _dataset(whole)
    unseen = [*context.data.split.select, *context.data.split.confirm]
    reference = [original(one) for one, _ in batches(dataset, unseen, context.model)]
    return take_quality(run, batches(dataset, unseen, context.model), reference, "top1", generated=False)


if __name__ == "__main__":
    sys.exit(main())

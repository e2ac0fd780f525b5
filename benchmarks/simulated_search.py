"""``python -m benchmarks.simulated_search``: how much of a grid's hypervolume a simulated search of one minute reaches.

A 70B model on six devices. The grid is drawn evenly from the whole space and simulated, candidate by candidate, for ten minutes
(45 seconds with ``--quick``, beside a search of 15), by the search's own trial code on every CPU. Both fronts together give the
reference: each share is of that.
"""

from __future__ import annotations

import math
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from autotune.api.prepare import prepare
from autotune.api.searching import run_prepared
from autotune.api.settings import SearchSettings
from autotune.core.assignment import Assignment
from autotune.core.clock import SystemClock
from autotune.core.errors import TrialError
from autotune.core.keys import trial_key
from autotune.core.objective import Objective
from autotune.core.plan import Plan
from autotune.core.trial import Measurement, Trial
from autotune.host.cpus import counted_cpus
from autotune.runs.search_file import SearchFile
from autotune_trials.simulating import simulated
from benchmarks.report import Figure, arguments, finish

__all__ = ["main"]

DEVICES = ("a100-sxm", "h100-sxm", "h200-sxm", "b200-sxm", "l40s", "mi300x")
_FLOOR = 0.99

Costs = NDArray[np.float64]


def main() -> int:
    """Search, draw the grid, compare; return the exit status."""
    asked = arguments(__doc__)
    search_s, grid_s = (15.0, 45.0) if asked.quick else (60.0, 600.0)
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare(
            SearchSettings(
                model=Path("llama-3.1-70b"),
                devices=DEVICES,
                budget_s=search_s,
                patience=1.0,
                seed=asked.seed,
                executor="process",
                tracking=False,
                output=Path(folder) / "run",
            )
        )
        began = time.perf_counter()
        run = run_prepared(prepared, clock=SystemClock())
        took_s = time.perf_counter() - began
        found = _costs([record.measurement for record in run.records()], prepared.search.objectives)
    drawn = _costs(_grid(prepared.search, grid_s, asked.seed), prepared.search.objectives)
    share = _hypervolume(found, found, drawn) / _hypervolume(np.vstack([found, drawn]), found, drawn)
    figures = [
        Figure("hypervolume of the search", share, floor=f"at least {_FLOOR}", held=share >= _FLOOR),
        Figure("seconds of the search", took_s, "s", f"at most {search_s + 15:g}", took_s <= search_s + 15),
        Figure("candidates of the search", str(len(found))),
        Figure("candidates of the grid", str(len(drawn))),
    ]
    return finish("simulated_search", figures, as_json=asked.json)


def _grid(search: SearchFile, seconds: float, seed: int) -> list[Measurement | None]:
    """Candidates of the whole space in a random order, as many as can be simulated in that time."""
    places = [(device.name, candidate) for device in search.devices for candidate in search.space.candidates()]
    random.Random(seed).shuffle(places)
    until = time.time() + seconds
    every = counted_cpus()
    work = [(search, places[start::every], until) for start in range(every)]
    with ProcessPoolExecutor(every) as pool:
        return [measurement for part in pool.map(_simulated, work) for measurement in part]


def _simulated(work: tuple[SearchFile, Sequence[tuple[str, object]], float]) -> list[Measurement | None]:
    search, places, until = work
    found: list[Measurement | None] = []
    for device, candidate in places:
        if time.time() > until:
            break
        plan = Plan()
        key = trial_key(search.context, candidate, device, plan, 0)  # type: ignore[arg-type]
        trial = Trial(id="t0001", key=key, candidate=candidate, device=device, plan=plan)  # type: ignore[arg-type]
        try:
            found.append(simulated(Assignment(trial=trial, context=search.context)))
        except TrialError:
            found.append(None)
    return found


def _costs(measurements: Sequence[Measurement | None], objectives: Sequence[Objective]) -> Costs:
    """Logarithms of what was measured on every objective, one row each; less is better."""
    rows = []
    for measurement in measurements:
        values = [measurement.metrics.get(goal.metric) for goal in objectives] if measurement else []
        numbers = [value.value for value in values if value is not None and value.value]
        if len(numbers) == len(objectives):
            signs = [1.0 if goal.goal == "min" else -1.0 for goal in objectives]
            rows.append([sign * math.log(number) for sign, number in zip(signs, numbers, strict=True)])
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(objectives))


def _hypervolume(costs: Costs, *seen: Costs) -> float:
    """Dominated by ``costs`` up to a tenth beyond the worst of all that was ``seen``, scaled by their range."""
    from moocore import hypervolume

    everything = np.vstack(seen)
    low, span = everything.min(axis=0), np.ptp(everything, axis=0)
    scaled = (costs - low) / np.where(span > 0, span, 1.0)
    return float(hypervolume(scaled, ref=np.full(costs.shape[1], 1.1)))


if __name__ == "__main__":
    sys.exit(main())

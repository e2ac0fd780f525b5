"""One real search recorded without racing, and replayed with and without it, by the product's own code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import numpy as np

from autotune.api.prepare import prepare
from autotune.api.settings import SearchSettings
from autotune.core.clock import SystemClock
from autotune.core.samples import Requests, Samples
from autotune.core.trial import Measurement, Trial, TrialRecord
from autotune.core.values import Value
from autotune.host.cpus import counted_cpus
from autotune.measure import PhaseLoad, measure
from autotune.runs.folder import RunFolder
from autotune.runs.search_file import SearchFile
from autotune.searching import Budget, Plans, search
from autotune.searching.optuna_sampler import OptunaSampler
from autotune.searching.running_front import RunningFront
from autotune.testing.virtual_clock import VirtualClock
from autotune_trials.process_executor import ProcessExecutor
from benchmarks.playback import PhasePlayback
from benchmarks.tape import Tape, load_tapes, save_tapes, tape_of
from benchmarks.wheel_models import digits

__all__ = ["RecordedSearch", "Replayed", "load_search", "record_search", "replay"]

PLANNED_S = 600.0  # trials are measured as thoroughly as in a search of ten minutes

_SEARCH, _RECORDS, _TAPES = "search.json", "search_records.jsonl", "search.npz"
_NOT_TIMED = ("accuracy", "accuracy_drop", "fidelity", "size", "load_time", "build_time")


class _Unraced(ProcessExecutor):
    """An executor whose trials are all measured to the end."""

    def submit(self, trial: Trial, bar: Sequence[Mapping[str, Value]] = ()) -> None:  # noqa: ARG002
        super().submit(trial)


@dataclass(frozen=True)
class RecordedSearch:
    """A search's file, its records in order, and each measured trial's rounds, by ``<trial>/<scenario>``."""

    search: SearchFile
    records: tuple[TrialRecord, ...]
    tapes: Mapping[str, Tape]


@dataclass(frozen=True)
class Replayed:
    """A search measured again from its tapes: its records, and the seconds that its search trials were measured for."""

    records: tuple[TrialRecord, ...]
    measuring_s: float
    dominated: int


def record_search(place: Path, target: Path, budget_s: float, seed: int) -> str:
    """Search the shipped model without racing, keep what it measured in ``target``, and say what that is."""
    place.mkdir(parents=True)
    model, data = digits(place)
    settings = SearchSettings(
        model=model,
        data=str(data),
        metric="top1",
        budget_s=budget_s,
        patience=1.0,
        seed=seed,
        output=place / "run",
        tracking=False,
        executor="process",
    )
    prepared = prepare(settings)
    folder = RunFolder.create(prepared.folder, prepared.search)
    clock = SystemClock()
    plans = Plans(PLANNED_S, phases=len(prepared.search.workload.phases))
    sampler = OptunaSampler(prepared.search.space, prepared.search.context, plans)
    with folder.lock():
        executor = _Unraced(prepared.search.context)
        try:
            search(sampler, executor, folder, Budget(budget_s, clock), [], clock, plans=plans)
        finally:
            executor.shutdown()
    return _keep(folder, {str(place): "recorded", str(model.parent): "digits"}, target)


def _keep(folder: RunFolder, places: Mapping[str, str], target: Path) -> str:
    """Write the search's file and records, with no folder of this machine in them, and the rounds."""
    records = [record for record in folder.records() if record.measurement]
    tapes = {}
    for record in records:
        tapes |= _tapes(folder.path, record)
    target.mkdir(parents=True, exist_ok=True)
    (target / _SEARCH).write_text(_anonymous(folder.search.to_json(), places) + "\n")
    (target / _RECORDS).write_text("".join(_anonymous(record.to_json(), places) + "\n" for record in records))
    save_tapes(target / _TAPES, tapes)
    return f"search: {len(records)} measured trials, {len(tapes)} tapes"


def _anonymous(text: str, places: Mapping[str, str]) -> str:
    for place, name in places.items():
        text = text.replace(place, name)
    return json.dumps(json.loads(text))


def _tapes(run: Path, record: TrialRecord) -> dict[str, Tape]:
    assert record.measurement is not None
    assert record.measurement.samples is not None
    with np.load(run / record.measurement.samples, allow_pickle=False) as arrays:
        scenarios = [key.removesuffix("_latency_s") for key in arrays.files if key.endswith("_latency_s")]
        return {f"{record.trial.id}/{name}": _tape(arrays, name) for name in scenarios}


def _tape(arrays: Mapping[str, np.ndarray], name: str) -> Tape:
    wall, cpu = arrays[f"{name}_wall_s"], arrays[f"{name}_cpu_s"]
    items, latencies = int(arrays[f"{name}_items"]), arrays[f"{name}_latency_s"]
    taken = [Samples(*each) for each in zip(latencies, repeat(items), wall, cpu, strict=False)]
    return tape_of([(0.0, samples, ()) for samples in taken])


def load_search(folder: Path) -> RecordedSearch:
    """Read what ``record_search`` kept in ``folder``."""
    lines = (folder / _RECORDS).read_text().splitlines()
    return RecordedSearch(
        SearchFile.model_validate_json((folder / _SEARCH).read_bytes()),
        tuple(TrialRecord.model_validate_json(line) for line in lines),
        load_tapes(folder / _TAPES),
    )


def replay(recorded: RecordedSearch, *, racing: bool) -> Replayed:
    """Measure every trial again, in order; with ``racing``, against the front that there was at its start."""
    context = recorded.search.context
    front = RunningFront(context.objectives, context.limits)
    records: list[TrialRecord] = []
    spent, dominated = 0.0, 0
    for record in recorded.records:
        raced = racing and record.trial.purpose == "search"
        again, took = _measured_again(recorded, record, front.bar() if raced else ())
        front.add(again)
        records.append(again)
        spent += took if record.trial.purpose == "search" else 0.0
        dominated += again.measurement is not None and again.measurement.stopped == "dominated"
    return Replayed(tuple(records), spent, dominated)


def _measured_again(
    recorded: RecordedSearch, record: TrialRecord, bar: Sequence[Mapping[str, Value]]
) -> tuple[TrialRecord, float]:
    measurement, context, clock = record.measurement, recorded.search.context, VirtualClock()
    assert measurement is not None
    tapes = {phase.scenario: recorded.tapes[f"{record.trial.id}/{phase.scenario}"] for phase in context.workload.phases}
    playback = PhasePlayback(tapes, clock)
    known = {name: value for name, value in measurement.metrics.items() if name in _NOT_TIMED}
    measured = measure(
        playback,
        [PhaseLoad(phase, _requests(phase.scenario, tapes)) for phase in context.workload.phases],
        record.trial.plan,
        clock=clock,
        power=context.power,
        cpus=context.devices[0].cpus or counted_cpus(),
        objectives=context.objectives,
        bar=bar,
        known=known,
        watch=playback,
    )
    memory = {name: value for name, value in measurement.metrics.items() if name == "memory"}
    outcome = Measurement(metrics={**known, **memory, **measured.metrics}, stopped=measured.stopped)
    return record.model_copy(update={"outcome": outcome}), clock.now_s()


def _requests(key: str, tapes: Mapping[str, Tape]) -> Requests:
    return Requests(key=key, inputs=(), items=tapes[key].items)

"""``autotune.search`` and its two variants: going on with a search, and doing one again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from autotune.api.conduct import conduct
from autotune.api.prepare import Prepared, prepare, read_model_and_data
from autotune.api.run import Run
from autotune.api.same_machine import refuse_another_machine
from autotune.api.settings import SearchSettings
from autotune.core.clock import Clock, SystemClock
from autotune.core.errors import UserError
from autotune.core.units import counted, parse_budget
from autotune.core.watching import Observer, Silent, Watched
from autotune.runs.folder import RunFolder
from autotune.runs.search_file import SearchFile, read_search_file
from autotune.searching import Budget, Stop

__all__ = ["again", "resume", "run_prepared", "search"]


def search(  # noqa: PLR0913  # the command's options, by their names there
    model: str | Path,
    *,
    budget: str | float | None = None,
    trials: int | None = None,
    space: str | None = None,
    devices: Sequence[str] = (),
    workload: str = "default",
    objectives: Sequence[str] = (),
    goal: str | None = None,
    limits: Sequence[str] = (),
    data: str | None = None,
    preprocess: str | None = None,
    metric: str | None = None,
    dims: Sequence[str] = (),
    custom_op_library: str | Path | None = None,
    seed: int = 0,
    sampler: str = "auto",
    patience: float = 0.2,
    recover: str | None = None,
    rate: str | None = None,
    spare: int = 0,
    confidence: float = 0.8,
    own: bool = False,
    years: float | None = None,
    electricity: float | None = None,
    pue: float | None = None,
    calibrate: str | Path | None = None,
    energy: str = "auto",
    power_model: str | Path | None = None,
    backends: Sequence[str] = (),
    executor: str = "ray",
    address: str | None = None,
    tracking: bool = True,
    tracking_uri: str | None = None,
    output: str | Path | None = None,
) -> Run:
    """Search for the best configurations of ``model`` and return the run with its front: ``autotune search`` in Python.

    ``budget`` is text as on the command line ("4h") or seconds. Every other option means what the command's does.
    Raises ``UserError`` for a mistake, ``NothingFeasible`` when no point holds the limits, ``AllTrialsFailed`` when the
    unmodified model does not run.
    """
    given = dict(locals())
    return run_prepared(prepare(_settings(given)), clock=SystemClock(), address=address)


def _settings(given: Mapping[str, Any]) -> SearchSettings:
    """The arguments as settings, which are named alike but for the budget. Raises ``UserError``."""
    budget = given["budget"]
    budget_s = parse_budget(budget) if isinstance(budget, str) else budget
    others = {name: value for name, value in given.items() if name != "budget"}
    try:
        return SearchSettings(**others, budget_s=budget_s)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{first['loc'][0]}={first['input']!r}: {first['msg']}", "see help(autotune.search)") from error


def run_prepared(
    prepared: Prepared,
    *,
    display: Observer | None = None,
    stop: Stop | None = None,
    address: str | None = None,
    clock: Clock | None = None,
) -> Run:
    """Make the run folder of a prepared search, and search. ``display`` None: nothing is shown on the way."""
    clock = clock or SystemClock()
    budget = Budget(prepared.search.budget_s, clock)
    folder = RunFolder.create(prepared.folder, prepared.search)
    with folder.lock():
        return _conduct(folder, budget, display, stop, address, clock)


def resume(
    path: str | Path,
    *,
    budget_s: float | None = None,
    display: Observer | None = None,
    stop: Stop | None = None,
    address: str | None = None,
    clock: Clock | None = None,
) -> Run:
    """Go on with the search in ``path``; ``budget_s`` None: until its own budget is used up.

    Raises ``UserError`` also when the machine, the runtimes, the model or the data are no longer what they were.
    """
    clock = clock or SystemClock()
    folder = RunFolder.open(Path(path))
    refuse_another_machine(folder.search)
    if budget_s is not None:
        folder.search = folder.search.model_copy(update={"budget_s": budget_s})
    _refuse_changed_files(folder.search)
    with folder.lock():
        budget = Budget(folder.search.budget_s, clock, folder.spent_s())
        return _conduct(folder, budget, display, stop, address, clock)


def again(file: Path, output: Path | None = None) -> Prepared:
    """Prepare the search of a ``search.json`` once more, for a new run folder (None: the default one).

    Raises ``UserError`` when the file cannot be read, or the model or the data are no longer what they were.
    """
    earlier = read_search_file(file)
    prepared = prepare(SearchSettings.model_validate(earlier.asked).model_copy(update={"output": output}))
    _refuse_changed(earlier, prepared.search.model.sha256, prepared.search.data.sha256)
    return prepared


def _conduct(
    folder: RunFolder, budget: Budget, display: Observer | None, stop: Stop | None, address: str | None, clock: Clock
) -> Run:
    observer: Observer = display or Silent()
    observer.began(_watched(folder.search), budget.spent_s())
    if folder.torn:
        observer.note("the journal's last line was cut off by a crash and is dropped: that trial runs again")
    if folder.repeated:
        observer.note(
            f"{counted(folder.repeated, 'line')} of the journal repeat another one word for word: each is read once"
        )
    try:
        return conduct(folder, budget=budget, observer=observer, stop=stop or Stop(), address=address, clock=clock)
    finally:
        observer.ended()


def _watched(search: SearchFile) -> Watched:
    return Watched(
        id=search.id,
        model=search.model.path.name,
        baseline=search.space.baseline,
        objectives=search.objectives,
        budget_s=search.budget_s,
        max_trials=search.max_trials,
        remarks=search.remarks,
        several_devices=len(search.devices) > 1,
    )


def _refuse_changed_files(earlier: SearchFile) -> None:
    model, data = read_model_and_data(SearchSettings.model_validate(earlier.asked))
    _refuse_changed(earlier, model.sha256, data.sha256)


def _refuse_changed(earlier: SearchFile, model_sha256: str, data_sha256: str) -> None:
    for what, path, now, then in (
        ("model", earlier.model.path, model_sha256, earlier.model.sha256),
        ("data", earlier.data.path, data_sha256, earlier.data.sha256),
    ):
        if now != then:
            raise UserError(f"the {what} {path} changed since the search began", "restore it, or start a new search")

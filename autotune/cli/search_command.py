"""What ``autotune search`` does: prepares, searches, prints the answer and the way on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from autotune.api import Run
from autotune.api.prepare import Prepared, prepare
from autotune.api.searching import again, resume, run_prepared
from autotune.api.settings import SearchSettings
from autotune.cli.output import console, print_json
from autotune.cli.search_options import SearchOptions
from autotune.cli.signals import stopped_by_signals
from autotune.core.clock import SystemClock
from autotune.core.errors import AllTrialsFailed, ExitCode, NothingFeasible, OutOfTime, UserError
from autotune.core.units import parse_budget
from autotune.core.watching import Observer
from autotune.report import print_front, print_going_on, progress, shown_path, space_text
from autotune.runs.folder import RunFolder
from autotune.searching import Stop

__all__ = ["run_search"]

_KEPT_ON_RESUME = ("address",)  # where to run now is no part of what is searched


def run_search(options: SearchOptions) -> int:
    """Carry out ``autotune search``; return its exit code."""
    stop = Stop()
    with stopped_by_signals(stop):
        try:
            if options.resume is not None:
                run = _resume(options, options.resume, stop)
            else:
                prepared = _prepared(options)
                if options.dry_run:
                    return _dry_run(prepared, options)
                run = _search(prepared, options, stop)
        except (AllTrialsFailed, NothingFeasible, OutOfTime) as error:
            if stop.signal is None:
                raise
            print(f"autotune: stopped before there was an answer: {error.problem}", file=sys.stderr)
            return 128 + stop.signal
    _print_answer(run, options, stopped=stop.signal is not None)
    if stop.signal is not None:
        print(f"to go on: autotune search --resume {shown_path(run.path)}", file=sys.stderr)
    return 128 + stop.signal if stop.signal is not None else int(ExitCode.DONE)


def _prepared(options: SearchOptions) -> Prepared:
    if options.from_ is not None:
        _refuse_others("--from", options, allowed=("output", "address"))
        return again(options.from_, options.output)
    if options.model is None:
        raise UserError(
            "which model? none was given", "autotune search MODEL.onnx, or --resume RUN, or --from search.json"
        )
    budget_s = parse_budget(options.budget) if options.budget is not None else None
    return prepare(SearchSettings(**options.settings(), budget_s=budget_s), _said(options))


def _said(options: SearchOptions) -> Callable[[str], None]:
    """Where a person is told of what takes long before the search begins."""
    return (lambda _: None) if options.quiet else (lambda text: print(text, file=sys.stderr, flush=True))


def _dry_run(prepared: Prepared, options: SearchOptions) -> int:
    search = prepared.search
    if options.as_json:
        print_json(search.to_json(indent=1))
        return int(ExitCode.DONE)
    console().print(space_text(search.space, search.workload, search.devices, search.facts), markup=False)
    for remark in search.remarks:
        print(f"note: {remark}")
    return int(ExitCode.DONE)


def _search(prepared: Prepared, options: SearchOptions, stop: Stop) -> Run:
    display = _display(options)
    return run_prepared(prepared, display=display, stop=stop, address=options.address, clock=SystemClock())


def _resume(options: SearchOptions, folder: Path, stop: Stop) -> Run:
    _refuse_others("--resume", options, allowed=_KEPT_ON_RESUME)
    budget_s = parse_budget(options.budget) if options.budget is not None else None
    display = _display(options)
    return resume(folder, budget_s=budget_s, display=display, stop=stop, address=options.address)


def _refuse_others(option: str, options: SearchOptions, allowed: tuple[str, ...]) -> None:
    """Everything else comes from the search's file."""
    unset = SearchSettings(model=Path())
    given = [
        name
        for name, value in options.settings().items()
        if name not in allowed and value is not None and (name == "model" or value != getattr(unset, name))
    ]
    if options.budget is not None and option == "--from":
        given.append("budget")
    if given:
        names = ", ".join("MODEL" if name == "model" else name.replace("_", "-") for name in given)
        raise UserError(f"{option} takes everything from the search's own file, but got {names}", "leave it out")


def _display(options: SearchOptions) -> Observer | None:
    return None if options.quiet else progress(console(stderr=True))


def _print_answer(run: Run, options: SearchOptions, *, stopped: bool) -> None:
    """A search that was stopped has one thing to go on with, which is told apart from the answer."""
    if options.as_json:
        print_json(run.front.to_json())
        return
    print_front(run.front, console())
    if not stopped:
        search = RunFolder.open(run.path).search
        print_going_on(run.front, search, shown_path(run.path), console())

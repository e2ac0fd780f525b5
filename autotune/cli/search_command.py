"""What ``autotune search`` does: prepares, searches, prints the answer and the way on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune.api import Run
from autotune.api.prepare import Prepared, prepare
from autotune.api.searching import again, resume, run_prepared
from autotune.api.settings import SearchSettings
from autotune.cli.output import console, print_json
from autotune.cli.signals import stopped_by_signals
from autotune.core.clock import SystemClock
from autotune.core.errors import AllTrialsFailed, ExitCode, NothingFeasible, OutOfTime, UserError
from autotune.core.units import parse_budget
from autotune.core.watching import Observer
from autotune.report import print_front, progress, shown_path, space_text
from autotune.searching import Stop

__all__ = ["Request", "run_search"]

_KEPT_ON_RESUME = ("address",)  # where to run now is no part of what is searched


@dataclass(frozen=True)
class Request:
    """The command's options. ``settings`` are those that say what to search and how, by the names of ``SearchSettings``."""

    settings: Mapping[str, Any]
    budget: str | None
    resume: Path | None
    again: Path | None
    dry_run: bool
    as_json: bool
    quiet: bool
    verbose: bool


def run_search(request: Request) -> int:
    """Carry out ``autotune search``; return its exit code."""
    stop = Stop()
    with stopped_by_signals(stop):
        try:
            if request.resume is not None:
                run = _resume(request, request.resume, stop)
            else:
                prepared = _prepared(request)
                if request.dry_run:
                    return _dry_run(prepared, request)
                run = _search(prepared, request, stop)
        except (AllTrialsFailed, NothingFeasible, OutOfTime) as error:
            if stop.signal is None:
                raise
            print(f"autotune: stopped before there was an answer: {error.problem}", file=sys.stderr)
            return 128 + stop.signal
    _print_answer(run, request)
    if stop.signal is not None:
        print(f"to go on: autotune search --resume {shown_path(run.path)}", file=sys.stderr)
    return 128 + stop.signal if stop.signal is not None else int(ExitCode.DONE)


def _prepared(request: Request) -> Prepared:
    if request.again is not None:
        _refuse_others("--from", request, allowed=("output", "address"))
        return again(request.again, request.settings["output"])
    if request.settings["model"] is None:
        raise UserError(
            "which model? none was given", "autotune search MODEL.onnx, or --resume RUN, or --from search.json"
        )
    budget_s = parse_budget(request.budget) if request.budget is not None else None
    return prepare(SearchSettings(**request.settings, budget_s=budget_s), _said(request))


def _said(request: Request) -> Callable[[str], None]:
    """Where a person is told of what takes long before the search begins."""
    return (lambda _: None) if request.quiet else (lambda text: print(text, file=sys.stderr, flush=True))


def _dry_run(prepared: Prepared, request: Request) -> int:
    search = prepared.search
    if request.as_json:
        print_json(search.to_json(indent=1))
        return int(ExitCode.DONE)
    console().print(space_text(search.space, search.workload, search.devices), markup=False)
    for remark in search.remarks:
        print(f"note: {remark}")
    return int(ExitCode.DONE)


def _search(prepared: Prepared, request: Request, stop: Stop) -> Run:
    display = _display(request)
    return run_prepared(prepared, display=display, stop=stop, address=request.settings["address"], clock=SystemClock())


def _resume(request: Request, folder: Path, stop: Stop) -> Run:
    _refuse_others("--resume", request, allowed=_KEPT_ON_RESUME)
    budget_s = parse_budget(request.budget) if request.budget is not None else None
    display = _display(request)
    return resume(folder, budget_s=budget_s, display=display, stop=stop, address=request.settings["address"])


def _refuse_others(option: str, request: Request, allowed: tuple[str, ...]) -> None:
    """Everything else comes from the search's file."""
    unset = SearchSettings(model=Path())
    given = [
        name
        for name, value in request.settings.items()
        if name not in allowed and value is not None and (name == "model" or value != getattr(unset, name))
    ]
    if request.budget is not None and option == "--from":
        given.append("budget")
    if given:
        names = ", ".join("MODEL" if name == "model" else name.replace("_", "-") for name in given)
        raise UserError(f"{option} takes everything from the search's own file, but got {names}", "leave it out")


def _display(request: Request) -> Observer | None:
    return None if request.quiet else progress(console(stderr=True))


def _print_answer(run: Run, request: Request) -> None:
    if request.as_json:
        print_json(run.front.to_json())
    else:
        print_front(run.front, console(), run.path)

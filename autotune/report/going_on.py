"""The commands that go on from an answer: deploy it, look at all of it, search longer. For the terminal and the report alike."""

from __future__ import annotations

import shlex

from rich.console import Console
from rich.text import Text

from autotune.core.front import Front, Point
from autotune.report.answer import recommended
from autotune.report.graph_answer import is_graph
from autotune.runs.search_file import SearchFile

__all__ = ["export_command", "going_on", "print_going_on", "search_again"]

_PARTS_S = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def export_command(front: Front, run: str, point: Point) -> str | None:
    """What writes ``point``, from the run folder that is called ``run``. None: nothing was built (a graph was priced)."""
    if is_graph(front):
        return None
    target = " --format kubernetes" if front.kind == "simulated" else ""
    return f"autotune export {shlex.quote(run)} --point {shlex.quote(point.id)}{target} -o DIR"


def going_on(front: Front, search: SearchFile, run: str) -> list[tuple[str, str]]:
    """Commands, each with what it is for. ``run``: how the run folder is called in them."""
    name = shlex.quote(run)
    export = export_command(front, run, recommended(front) or front.baseline)
    look = f"ui {name}" if search.tracking.enabled else f"front {name} --plot front.png"
    steps = [(export, "what is recommended, to deploy")] if export else []
    steps.append((f"autotune {look}", "the trials in MLflow" if search.tracking.enabled else "the front as a picture"))
    if search.budget_s is not None and search.max_trials is None:
        twice = f"autotune search --resume {name} --budget {_written(2 * search.budget_s)}"
        steps.append((twice, "the search goes on, for as long again"))
    return steps


def search_again(run: str) -> tuple[str, str]:
    """The command that does the same search anew, with what it is for."""
    return f"autotune search --from {shlex.quote(f'{run}/search.json')}", "the same search again"


def print_going_on(front: Front, search: SearchFile, run: str, console: Console) -> None:
    """Print those commands, each on a line that can be copied."""
    for number, (command, _) in enumerate(going_on(front, search, run)):
        console.print(Text(f"{'      ' if number else 'next: '}{command}"), soft_wrap=True)


def _written(budget_s: float) -> str:
    """``"4m"`` or ``"1h30m"``, as ``--budget`` takes it: whole seconds."""
    left, text = round(budget_s), ""
    for size_s, unit in _PARTS_S:
        count, left = divmod(left, size_s)
        text += f"{count}{unit}" if count else ""
    return text or "1s"

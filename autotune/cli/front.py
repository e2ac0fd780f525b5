"""``autotune front``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from autotune.core.front import Front

__all__ = ["register"]


def front(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print front.json.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the front into this PNG.", show_default=False)] = None,
    html: Annotated[bool, typer.Option("--html", help="Write report.html into RUN, and say where.")] = False,
    axes: Annotated[
        str | None, typer.Option(help="Metrics to plot: latency_p50,throughput.", show_default=False)
    ] = None,
) -> int:
    """Show the front of a search: the answer, the points, the baseline, the knee, what was dropped and what just missed.

    Exits with 3 where the search did: when no point holds every limit.
    """
    from autotune.api.run import read_front
    from autotune.cli.output import console, print_json
    from autotune.report import print_front, print_going_on, shown_path
    from autotune.runs.folder import RunFolder
    from autotune.searching import refuse_nothing_feasible

    folder = RunFolder.open(run)
    found = read_front(folder)
    if plot is not None:
        draw(found, plot, axes)
    if html:
        from autotune.api.reporting import write_report

        print(f"report: {write_report(folder, found)}")
    elif as_json:
        print_json(found.to_json())
    else:
        print_front(found, console())
        print_going_on(found, folder.search, shown_path(folder.path), console())
    refuse_nothing_feasible(found)
    return 0


def draw(found: Front, file: Path, axes: str | None) -> None:
    """Plot two metrics of the front, its first two objectives by default."""
    from autotune.core.errors import UserError
    from autotune.report import plot_front

    names = tuple((axes or "").split(",")) if axes else tuple(objective.metric for objective in found.objectives[:2])
    if len(names) != 2 or not all(name in found.baseline.metrics for name in names):
        known = ", ".join(found.baseline.metrics)
        raise UserError(f"--axes {axes!r} does not name two metrics of this front", f"its metrics: {known}")
    plot_front(found, file, *names)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Show the front that a search found.")(front)

"""``autotune front``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def front(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print front.json.")] = False,
) -> int:
    """Show the front of a search: the answer, the points, the baseline, the knee, what was dropped and what just missed."""
    from autotune.api.run import read_front
    from autotune.cli.output import console, print_json
    from autotune.report import print_front
    from autotune.runs.folder import RunFolder

    found = read_front(RunFolder.open(run))
    if as_json:
        print_json(found.to_json())
    else:
        print_front(found, console(), run)
    return 0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(front)

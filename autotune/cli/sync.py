"""``autotune sync``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def sync(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    tracking_uri: Annotated[str | None, typer.Option(help="MLflow store or server; default: the search's.")] = None,
) -> int:
    """Write to MLflow whatever it lacks of a search: after the server was away, or into another store."""
    from autotune.api.tracking import sync_run
    from autotune.core.units import counted
    from autotune.runs.folder import RunFolder

    folder = RunFolder.open(run)
    with folder.lock():
        run_id = sync_run(folder, tracking_uri or folder.search.tracking.uri)
    print(f"MLflow has all of {run}: {counted(len(folder.records()), 'trial')} (run {run_id})")
    return 0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Write to MLflow what it lacks of a search.")(sync)

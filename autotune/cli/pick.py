"""``autotune pick``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def pick(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    point: Annotated[
        str, typer.Argument(help="ID of a point, or its name: knee, fastest, frugal, accurate, baseline.")
    ],
    alias: Annotated[str | None, typer.Option(help="Register the point's model in MLflow under this alias.")] = None,
    tracking_uri: Annotated[str | None, typer.Option(help="MLflow store or server; default: the search's.")] = None,
) -> int:
    """Pick a point of a front, as setting its tag in MLflow's UI does; `autotune export --picked` then exports it."""
    from autotune import plugins
    from autotune.api.run import read_front
    from autotune.export import choose_point
    from autotune.runs.folder import RunFolder

    folder = RunFolder.open(run)
    chosen = choose_point(read_front(folder), point)
    reader = plugins.tracker_factory("mlflow").reader(tracking_uri or folder.search.tracking.uri)
    picked = reader.pick(folder.search.id, chosen.id, alias)
    print(f"picked {chosen.id} (MLflow run {picked.run_id})")
    if alias:
        print(f"registered as models:/{folder.search.facts.stem}@{alias}")
    return 0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Pick a point of a front.")(pick)

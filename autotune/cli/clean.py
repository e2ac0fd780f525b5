"""``autotune clean``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def clean(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    everything: Annotated[bool, typer.Option("--all", help="Remove the artifacts of front points too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Remove what a finished search no longer needs: artifacts that no front point uses, logs, reference outputs.

    The journal, the samples and the front stay: the search can still be shown, and resumed (it builds again).
    """
    import json

    from autotune.cli.output import print_json
    from autotune.runs.cleaning import clean_run
    from autotune.runs.folder import RunFolder

    folder = RunFolder.open(run)
    with folder.lock():
        freed = clean_run(folder, keep_front=not everything)
    if as_json:
        print_json(json.dumps({"schema": "autotune/clean/1", "run": str(run), "freed_bytes": freed}))
    else:
        print(f"freed {freed / 1e6:.1f} MB in {run}")
    return 0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Remove what a finished search no longer needs.")(clean)

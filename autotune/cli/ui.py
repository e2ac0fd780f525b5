"""``autotune ui``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def ui(
    run: Annotated[Path | None, typer.Argument(help="A run folder: open on its search.", show_default=False)] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = 5000,
    tracking_uri: Annotated[str | None, typer.Option(help="MLflow store or server; default: the search's.")] = None,
    browse: Annotated[
        bool | None, typer.Option("--open/--no-open", help="Open the page in a browser; default: in a terminal.")
    ] = None,
    print_only: Annotated[bool, typer.Option("--print", help="Print the command and the link, start nothing.")] = False,
) -> int:
    """Show searches in MLflow's UI, on the right store, and print the link to the front of RUN."""
    import shlex
    import subprocess
    import sys
    import threading

    from autotune import plugins
    from autotune.cli.browsing import open_when_answered
    from autotune.runs.folder import RunFolder

    search = RunFolder.open(run).search if run else None
    uri = tracking_uri or (search.tracking.uri if search else None)
    reader = plugins.tracker_factory("mlflow").reader(uri)
    command = reader.ui_command(port)
    host = f"http://127.0.0.1:{port}" if command else reader.address()
    link = reader.ui_link(host, search.id) if search else host
    print(f"link: {link}", flush=True)
    wanted = not print_only and (sys.stdout.isatty() if browse is None else browse)
    if wanted:
        threading.Thread(target=open_when_answered, args=(host, link), daemon=bool(command)).start()
    if not command:
        return 0
    print(f"command: {shlex.join(command)}", flush=True)
    return 0 if print_only else subprocess.run(command, check=False).returncode


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Show searches in MLflow's UI.")(ui)

"""``autotune verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def verify(
    folder: Annotated[Path, typer.Argument(help="An exported folder.")],
    data: Annotated[
        str | None, typer.Option(help="The data that its quality was taken from.", show_default=False)
    ] = None,
    original: Annotated[
        Path | None, typer.Option(help="The original model, when the folder has none.", show_default=False)
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(help="Check the server running there (KServe v2, http:// or grpc://).", show_default=False),
    ] = None,
    budget: Annotated[str, typer.Option(help="Time to spend at most.")] = "2m",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Run an exported folder in a fresh process against what it promises: kept (0), broken (1) or another machine (4)."""
    from contextlib import ExitStack
    from functools import partial

    from autotune.cli.output import at_work, print_json
    from autotune.core.units import format_duration, parse_budget
    from autotune.export import verify as verify_folder

    budget_s = parse_budget(budget)
    told = f"running {url or folder} against what it promises: {format_duration(budget_s)} at most"
    with ExitStack() as stack:
        begin = partial(stack.enter_context, at_work(told))
        if url is not None:
            from autotune.export.live import verify_server

            report = verify_server(folder, url, budget_s=budget_s, begin=begin)
        else:
            report = verify_folder(folder, budget_s=budget_s, data=data, original=original, begin=begin)
    if as_json:
        print_json(report.to_json())
    else:
        print(report)
    return int(report.exit_code)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Check an exported folder against its promise.")(verify)

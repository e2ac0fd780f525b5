"""``autotune spaces``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from autotune.core.listed import ListedSpace

__all__ = ["register"]


def spaces(
    name: Annotated[str | None, typer.Argument(help="One space, with all its values.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Say what each search space is for and what it may choose from. What a model of yours allows: search MODEL --dry-run."""
    from autotune.api.spaces_here import spaces_here

    found = spaces_here([name] if name else [])
    if as_json:
        _print_json(found)
    else:
        _print(found, details=name is not None)
    return 0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Say what can be searched.")(spaces)


def _print(found: list[ListedSpace], *, details: bool) -> None:
    from autotune.cli.output import columns
    from autotune.report.spaces_text import space_details, spaces_overview

    print(space_details(found[0], columns()) if details else spaces_overview(found, columns()))


def _print_json(found: list[ListedSpace]) -> None:
    import json

    from autotune.cli.output import print_json

    print_json(
        json.dumps({"schema": "autotune/spaces/1", "spaces": [space.model_dump(mode="json") for space in found]})
    )

"""``autotune search``."""

from __future__ import annotations

import typer

from autotune.cli.declared import command_of
from autotune.cli.search_options import SearchOptions

__all__ = ["register"]


def search(options: SearchOptions) -> int:
    """Search for the best configurations of MODEL, measured here or simulated elsewhere, within a time budget."""
    from autotune.cli.search_command import run_search

    return run_search(options)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Search for the best ways to run a model.")(command_of(SearchOptions, search))

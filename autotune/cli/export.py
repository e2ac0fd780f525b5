"""``autotune export``."""

from __future__ import annotations

import typer

from autotune.cli.declared import command_of
from autotune.cli.export_options import ExportOptions

__all__ = ["register"]


def export(options: ExportOptions) -> int:
    """Write a point of a front as a folder that deploys as it is: from a run folder, or from MLflow alone."""
    from autotune.cli.export_command import run_export

    return run_export(options)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Write a point as a folder that deploys as it is.")(command_of(ExportOptions, export))

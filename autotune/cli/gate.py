"""``autotune gate``."""

from __future__ import annotations

import typer

from autotune.cli.declared import command_of
from autotune.cli.gate_options import GateOptions

__all__ = ["register"]


def gate(options: GateOptions) -> int:
    """Compare a model with its baseline, side by side on this machine: passed (0), worse (1) or inconclusive (4)."""
    from autotune.cli.gate_command import run_gate

    return run_gate(options)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Compare a model with its baseline, side by side.")(command_of(GateOptions, gate))

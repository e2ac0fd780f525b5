"""Where commands print: one console for people, plain JSON for programs."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "print_json"]


def console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the terminal; where there is none, as COLUMNS says, else 100 columns."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(
        stderr=stderr,
        highlight=False,
        width=None if stream.isatty() or os.environ.get("COLUMNS", "").isdigit() else 100,
        soft_wrap=False,
    )


def print_json(text: str) -> None:
    """Print one JSON object on stdout and nothing else."""
    print(text, file=sys.stdout)

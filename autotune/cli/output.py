"""Where commands print: one console for people, plain JSON for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["at_work", "columns", "console", "print_json"]


def console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the terminal; where there is none, as COLUMNS says, else 100 columns."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(
        stderr=stderr,
        highlight=False,
        width=None if stream.isatty() or os.environ.get("COLUMNS", "").isdigit() else 100,
        soft_wrap=not stream.isatty(),  # what reads a pipe wraps lines itself
    )


def columns() -> int | None:
    """How wide text for a person may be: as the terminal or COLUMNS says, 100 at most; None in a pipe, where lines stay whole."""
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdigit():
        return None
    return min(console().width, 100)


@contextmanager
def at_work(what: str) -> Iterator[None]:
    """Say on stderr ``what`` is being done, while the block does it: a line that moves, or one line where nobody watches."""
    if sys.stderr.isatty():
        with console(stderr=True).status(what):
            yield
        return
    print(f"autotune: {what}", file=sys.stderr, flush=True)
    yield


def print_json(text: str) -> None:
    """Print one JSON object on stdout and nothing else."""
    print(text, file=sys.stdout)

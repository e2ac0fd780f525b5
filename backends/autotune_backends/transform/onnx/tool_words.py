"""What tools say: kept quiet while they work, on one line when they fail."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

__all__ = ["one_line", "quiet_tools"]


@contextmanager
def quiet_tools() -> Iterator[None]:
    """Silence logging and printing while inside, and leave the root logger as it was.

    onnxruntime's tools advise, through the root logger, what is being done already; one sets that logger up on import,
    and its calibration prints.
    """
    root = logging.root
    disabled, handlers, level = root.manager.disable, list(root.handlers), root.level
    logging.disable(logging.ERROR)
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.disable(disabled)
        root.handlers[:] = handlers
        root.setLevel(level)


def one_line(error: BaseException, limit: int = 300) -> str:
    """Type and message of an error, on one line of at most ``limit`` characters."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:limit] if text else type(error).__name__

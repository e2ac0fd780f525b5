"""What tools say: kept quiet while they work, on one line when they fail."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["one_line", "quiet_tools"]


@contextmanager
def quiet_tools() -> Iterator[None]:
    """Silence logging while inside: onnxruntime's tools advise, through the root logger, what is being done already."""
    previous = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(previous)


def one_line(error: BaseException, limit: int = 300) -> str:
    """Type and message of an error, on one line of at most ``limit`` characters."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:limit] if text else type(error).__name__

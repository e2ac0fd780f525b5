"""Two sides of a comparison never run at once: both start paused, and run again afterwards whatever happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from autotune.core.ports import Session

__all__ = ["all_paused"]


@contextmanager
def all_paused(sessions: Sequence[Session]) -> Iterator[None]:
    """Pause every session; leave with every one running."""
    for session in sessions:
        session.pause()
    try:
        yield
    finally:
        for session in sessions:
            session.resume()

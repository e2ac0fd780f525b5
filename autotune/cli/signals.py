"""Signals: how a command is ended from outside, and cleans up first."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from autotune.core.errors import ExitCode

if TYPE_CHECKING:
    from autotune.searching.roles import Stop

__all__ = ["end_quietly", "ending_in_order", "stopped_by_signals"]

_STOPPING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def ending_in_order() -> Iterator[None]:
    """SIGTERM raises ``SystemExit`` in the block, as SIGINT raises ``KeyboardInterrupt``: temporary files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    earlier = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier)


def end_quietly() -> None:
    """From here on nothing is left to clean up: a signal ends the process at once, while the interpreter ends too."""
    if threading.current_thread() is threading.main_thread():
        for number in _STOPPING:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def stopped_by_signals(stop: Stop) -> Iterator[None]:
    """SIGINT and SIGTERM end a search in good order once it has begun (``stop.heeded``); before, and again, at once."""

    def handle(number: int, _: object) -> None:
        if not stop.heeded and number == signal.SIGINT:
            raise KeyboardInterrupt
        if stop.requested or not stop.heeded:
            raise SystemExit(128 + number)
        stop.request(number)
        os.write(2, b"stopping: what was found is kept; again to stop at once\n")

    earlier = {number: signal.signal(number, handle) for number in _STOPPING}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _terminate(_number: int, _frame: object) -> None:
    raise SystemExit(int(ExitCode.SIGTERM))

"""Work that one thread does in order, and that nobody has to wait for to its end."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue

__all__ = ["Backlog"]


class Backlog:
    """Pieces of work, each with a word for what it is. The thread is a daemon: a process ends without it, where it would
    wait for the thread of an executor however long a piece takes.
    """

    def __init__(self, thread_name: str) -> None:
        self._queue: SimpleQueue[tuple[Callable[[], None], Future[None]] | None] = SimpleQueue()
        self._pending: deque[tuple[str, Future[None]]] = deque()
        threading.Thread(target=self._run, name=thread_name, daemon=True).start()

    @property
    def left(self) -> list[str]:
        """What is not done, in order."""
        return [what for what, done in self._pending if not done.done()]

    def add(self, what: str, work: Callable[[], None]) -> None:
        """Do it after everything that was added before."""
        done: Future[None] = Future()
        self._pending.append((what, done))
        self._queue.put((work, done))

    def wait(self, timeout_s: float | None) -> None:
        """Wait until everything is done, or so long (None: without end). Raises what a piece of work raised, once."""
        until = None if timeout_s is None else time.monotonic() + timeout_s
        while self._pending:
            _, done = self._pending[0]
            try:
                done.exception(None if until is None else max(0.0, until - time.monotonic()))
            except TimeoutError:
                return
            self._pending.popleft()
            done.result()

    def drop(self) -> None:
        """Begin no more of it; what is being done now goes on."""
        self._pending = deque((what, done) for what, done in self._pending if not done.cancel())

    def end(self) -> None:
        """End the thread after what was added."""
        self._queue.put(None)

    def _run(self) -> None:
        while (piece := self._queue.get()) is not None:
            work, done = piece
            if not done.set_running_or_notify_cancel():
                continue
            try:
                work()
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(None)

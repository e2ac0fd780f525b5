"""A process with everything it has started: how much memory that uses, and its end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psutil

__all__ = ["ProcessTree"]


class ProcessTree:
    """The processes below (and with) one, in whatever session they are. It remembers those it saw, to end orphans too."""

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._seen: dict[int, psutil.Process] = {pid: self._root}

    def memory_bytes(self) -> int:
        """Resident memory of all of it now. Pages that processes share count once for each."""
        self._look()
        total = 0
        for process in list(self._seen.values()):
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
        return total

    def kill(self) -> None:
        """End all of it, stopped processes too, and return when it is gone. What is gone already does not matter."""
        self._look()
        for process in self._alive():
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(list(self._alive()), timeout=5)

    def _look(self) -> None:
        with contextlib.suppress(psutil.Error):
            self._seen |= {child.pid: child for child in self._root.children(recursive=True)}

    def _alive(self) -> Iterator[psutil.Process]:
        # is_running compares start times: a process id may have been given to another process since
        return (process for process in self._seen.values() if process.is_running())

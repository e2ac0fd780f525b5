"""Waits for a tracker to get ready, but not for ever: it may be a server that accepts and then says nothing."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, wait
from dataclasses import dataclass

from autotune.core.ports import Tracker
from autotune.core.watching import Observer
from autotune.runs.folder import RunFolder
from autotune.searching import Stop

__all__ = ["READY_S", "TrackerSetUp"]

READY_S = 60.0
"""How long a tracker's set-up is waited for: a server that is away is noticed within 20 s, a large store opens in a few."""

_LOOK_S = 0.2  # how long a stop request may go unnoticed


@dataclass(frozen=True)
class TrackerSetUp:
    """The trackers whose set-up is waited for, who is told, and what ends the waiting early."""

    trackers: list[Tracker]
    observer: Observer
    stop: Stop

    def begin(self, folder: RunFolder) -> Future[None]:
        """Note in ``folder`` where the trackers show the search, in a thread that nothing waits for at the end."""
        noted: Future[None] = Future()

        def note() -> None:
            try:
                for tracker in self.trackers:
                    _note_tracking(folder, tracker, self.observer)
                noted.set_result(None)
            except BaseException as error:
                noted.set_exception(error)

        threading.Thread(target=note, name="tracker set-up", daemon=True).start()
        return noted

    def end(self, noted: Future[None]) -> None:
        """Wait for it, unless a stop is requested. Raises what was raised there."""
        while not noted.done() and not self.stop.requested:
            wait([noted], timeout=_LOOK_S)
        if noted.done():
            noted.result()


def _note_tracking(folder: RunFolder, tracker: Tracker, observer: Observer) -> None:
    """Wait until nothing of the tracker's set-up can run beside a measurement, and keep where it shows the search."""
    began = time.monotonic()
    ready = tracker.ready(READY_S)
    if ready and tracker.uri and tracker.run_id:
        folder.note_tracking(tracker.uri, tracker.run_id)
    elif time.monotonic() - began >= READY_S:
        observer.note(f"the tracker did not answer for {READY_S:g} s; the search begins without it")

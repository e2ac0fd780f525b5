from __future__ import annotations

import threading
from typing import Any

import pytest

from autotune.api import tracker_set_up
from autotune.api.tracker_set_up import TrackerSetUp
from autotune.searching import Stop


class SilentServer:
    """A tracker whose store never answers."""

    uri = run_id = None

    def ready(self, timeout_s: float | None = None) -> bool:
        threading.Event().wait(timeout_s)
        return False


class BrokenTracker(SilentServer):
    def ready(self, timeout_s: float | None = None) -> bool:
        raise RuntimeError("a bug in the tracker")


class Notes(list[str]):
    def note(self, text: str) -> None:
        self.append(text)


def waited(tracker: Any, stop: Stop) -> Notes:
    notes: Any = Notes()
    set_up = TrackerSetUp([tracker], notes, stop)
    set_up.end(set_up.begin(None))  # type: ignore[arg-type]
    return notes


def test_a_store_that_never_answers_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracker_set_up, "READY_S", 0.1)
    assert "begins without it" in waited(SilentServer(), Stop())[0]


def test_a_stop_ends_the_waiting() -> None:
    assert waited(SilentServer(), Stop(signal=2)) == []


def test_a_bug_of_a_tracker_is_raised() -> None:
    with pytest.raises(RuntimeError, match="a bug in the tracker"):
        waited(BrokenTracker(), Stop())

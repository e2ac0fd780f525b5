"""A tracker's store may take long, or for ever: a search ends all the same, and says what is not there."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autotune.testing.sample_search import sample_front, sample_record, sample_search
from autotune_trials.backlog import Backlog
from autotune_trials.mlflow_tracker import MlflowTracker


class StoreError(Exception):
    """As the store's."""


class SlowWriter:
    """A writer that stands still at one of its methods until it is let go, and then meets what has gone meanwhile."""

    stands_at, let_go, failure = "", threading.Event(), None

    def __init__(self, *_: Any) -> None:
        self.uri, self.run_id, self.written = "slow:", "r", list[str]()
        self._stand("set-up")

    def _stand(self, where: str) -> None:
        if where == self.stands_at:
            self.let_go.wait(10)
            if self.failure is not None:
                raise self.failure

    def record(self, _: Any) -> None:
        self._stand("trial")

    def finish(self, *_: Any) -> None:
        self._stand("front")

    def close(self) -> None:
        self._stand("end")


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[SlowWriter]]:
    fresh = type("Writer", (SlowWriter,), {"let_go": threading.Event()})
    monkeypatch.setitem(sys.modules, "autotune_trials.mlflow_writer", SimpleNamespace(SearchWriter=fresh))
    monkeypatch.setitem(sys.modules, "autotune_trials.mlflow_store", SimpleNamespace(StoreError=StoreError))
    yield fresh
    fresh.let_go.set()


@pytest.mark.parametrize(
    ("stands_at", "named"),
    [
        ("set-up", "2 trials and the front"),
        ("trial", "2 trials and the front"),
        ("front", "the front"),
        ("end", "how the search ended"),
        ("", None),
    ],
)
def test_a_search_ends_and_says_what_is_not_written(
    tmp_path: Path, writer: type[SlowWriter], stands_at: str, named: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "stands_at", stands_at)
    monkeypatch.setattr("autotune_trials.mlflow_tracker.PATIENCE_S", 0.01)
    said: list[str] = []
    search = sample_search(tmp_path)
    tracker = MlflowTracker(search, None, tmp_path, said.append, end_s=0.1)
    for number in range(2):
        tracker.record(sample_record(number))
    tracker.finish(sample_front(search), "", {})
    tracker.close()
    told = f"MLflow has not taken {named} within 0.1 s: `autotune sync {tmp_path}` writes it there later"
    assert said == ([told] if named else [])
    assert tracker.away is bool(named)


def test_what_fails_after_it_was_given_up_is_not_told_again(
    tmp_path: Path, writer: type[SlowWriter], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "stands_at", "front")
    monkeypatch.setattr(writer, "failure", StoreError("the exported folder is gone"))
    said: list[str] = []
    search = sample_search(tmp_path)
    tracker = MlflowTracker(search, None, tmp_path, said.append, end_s=0.05)
    tracker.finish(sample_front(search), "", {})
    writer.let_go.set()
    tracker.close()
    time.sleep(0.05)
    assert len(said) == 1


def test_work_is_done_in_order_and_a_bug_in_it_is_raised_once() -> None:
    backlog, done = Backlog("t"), list[int]()
    backlog.add("first", lambda: done.append(1))
    backlog.add("bug", lambda: done.append(1 // 0))
    backlog.add("last", lambda: done.append(2))
    with pytest.raises(ZeroDivisionError):
        backlog.wait(None)
    backlog.wait(None)
    assert (done, backlog.left) == ([1, 2], [])


def test_what_was_dropped_is_never_begun() -> None:
    backlog, go, done = Backlog("dropping"), threading.Event(), list[int]()
    backlog.add("now", lambda: done.append(go.wait(10)))
    backlog.add("later", lambda: done.append(2))
    backlog.wait(0.01)
    assert backlog.left == ["now", "later"]
    backlog.drop()
    go.set()
    backlog.end()
    next(thread for thread in threading.enumerate() if thread.name == "dropping").join(5)
    assert done == [True]


def test_a_process_ends_although_a_piece_never_does() -> None:
    code = (
        "import threading; from autotune_trials.backlog import Backlog\n"
        "b = Backlog('t'); b.add('x', threading.Event().wait); b.wait(0.05); print(b.left)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert ended.stdout == "['x']\n"

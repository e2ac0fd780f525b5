from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from autotune.core.errors import UserError
from autotune.core.trial import TrialRecord
from autotune.runs.folder import RunFolder, default_run_path
from autotune.runs.search_file import SearchFile

Record = Callable[..., TrialRecord]
Searched = Callable[[Path], SearchFile]


def test_created_folder_is_read_back(run: RunFolder) -> None:
    again = RunFolder.open(run.path)
    assert again.search == run.search
    assert again.records() == []
    assert not again.torn
    assert again.front() is None


def test_a_second_search_in_the_same_folder_is_refused(run: RunFolder) -> None:
    before = sorted(run.path.iterdir())
    with pytest.raises(UserError, match="already holds a search") as caught:
        RunFolder.create(run.path, run.search)
    assert "--resume" in caught.value.remedy
    assert sorted(run.path.iterdir()) == before


def test_a_folder_with_other_things_is_refused(tmp_path: Path, searched: Searched) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"not empty: it holds notes\.txt"):
        RunFolder.create(tmp_path, searched(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_an_empty_folder_and_a_killed_creation_are_used(tmp_path: Path, searched: Searched) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / ".search.json.x1").touch()
    assert RunFolder.create(tmp_path, searched(tmp_path)).records() == []


def test_a_path_that_cannot_be_written_leaves_nothing(tmp_path: Path, searched: Searched) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        RunFolder.create(tmp_path / "file" / "run", searched(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_failed_creation_takes_back_what_it_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, searched: Searched
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("autotune.runs.folder.write_atomic", full)
    with pytest.raises(UserError, match="No space left"):
        RunFolder.create(tmp_path / "a" / "b", searched(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "{", '{"schema": "autotune/search/9"}'])
def test_an_unreadable_search_names_the_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "search.json").write_text(content)
    with pytest.raises(UserError, match=r"search\.json cannot be read"):
        RunFolder.open(tmp_path)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not the folder of a search"):
        RunFolder.open(tmp_path / "missing")


def test_second_driver_is_refused_with_the_first_ones_pid(run: RunFolder) -> None:
    with run.lock(), pytest.raises(UserError, match=f"process {os.getpid()}"), RunFolder.open(run.path).lock():
        pass
    with run.lock():
        pass


def test_kill_9_releases_the_lock(run: RunFolder) -> None:
    code = (
        "import sys, time; from pathlib import Path; from autotune.runs.folder import RunFolder\n"
        "with RunFolder.open(Path(sys.argv[1])).lock():\n print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, run.path], stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == "held\n"
        with pytest.raises(UserError, match=f"process {driver.pid}"), run.lock():
            pass
        driver.kill()
    with run.lock():
        pass


def test_down_time_is_not_charged(run: RunFolder, clock: Any) -> None:
    with run.lock():
        clock.sleep(10)
        run.log_time(10)
    clock.sleep(3600)
    again = RunFolder.open(run.path, clock)
    with again.lock():
        clock.sleep(5)
        again.log_time(5)
    assert again.spent_s() == pytest.approx(15)


def test_kill_between_heartbeats_charges_the_journalled_trials(run: RunFolder, clock: Any, record: Record) -> None:
    with run.lock():
        clock.sleep(10)
        run.log_time(10)
        run.append(record("a", started_s=1005, finished_s=1015))
        run.append(record("b", started_s=1012, finished_s=1018))
    clock.sleep(3600)
    again = RunFolder.open(run.path, clock)
    assert again.spent_s() == pytest.approx(18)
    with again.lock():
        again.log_time(2)
    assert again.spent_s() == pytest.approx(20)


def test_default_paths_are_unique(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    now = datetime(2026, 11, 30, 1, 2, 3)
    first = default_run_path("digits", now)
    assert first == Path("autotune-runs/digits-20261130-010203")
    first.mkdir(parents=True)
    assert default_run_path("digits", now) == Path("autotune-runs/digits-20261130-010203-2")


def test_a_moved_run_folder_goes_on_where_it_is(run: RunFolder) -> None:
    moved = run.path.rename(run.path.with_name("moved"))
    assert RunFolder.open(moved).search.context.folder == moved

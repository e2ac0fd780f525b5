from __future__ import annotations

from pathlib import Path

import pytest

from autotune.api import reporting
from autotune.api.reporting import try_report, write_report
from autotune.core.errors import UserError
from autotune.runs.folder import RunFolder
from autotune.testing.sample_search import sample_front, sample_records, sample_search


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder.create(tmp_path / "run", sample_search(tmp_path / "run"))
    for record in sample_records():
        made.append(record)
    return made


def test_the_report_lies_in_the_run_folder(folder: RunFolder) -> None:
    file = write_report(folder, sample_front(folder.search))
    assert file == folder.path / "report.html"
    assert file.read_text().startswith("<!doctype html>")


def test_commands_in_it_are_short_where_the_run_lies_in_the_current_folder(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.path.parent)
    text = write_report(folder, sample_front(folder.search)).read_text()
    assert "autotune export run --point" in text
    assert str(folder.path) not in text


def test_a_folder_that_cannot_be_written_is_a_persons_mistake(folder: RunFolder) -> None:
    folder.layout.report.mkdir()
    with pytest.raises(UserError, match="cannot be written"):
        write_report(folder, sample_front(folder.search))


@pytest.mark.parametrize("error", [UserError("no room"), RuntimeError("a bug\nin detail"), ImportError()])
def test_a_report_that_fails_costs_a_line_and_not_the_search(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(reporting, "write_report", broken)
    said: list[str] = []
    try_report(folder, sample_front(folder.search), said.append)
    (line,) = said
    assert line.startswith("report.html was not written (")
    assert f"autotune front {folder.path} --html" in line
    assert "\n" not in line

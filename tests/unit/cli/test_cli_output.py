from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from autotune.cli.front import front
from autotune.cli.main import app
from autotune.cli.output import at_work
from autotune.core.units import counted
from autotune.runs.folder import RunFolder
from autotune.testing.sample_search import sample_front, sample_search


def test_what_is_being_done_is_one_line_on_stderr_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with at_work("comparing: 3 min at most"):
        print("{}")
    captured = capsys.readouterr()
    assert captured.out == "{}\n"
    assert captured.err == "autotune: comparing: 3 min at most\n"


def test_no_command_is_cut_off_in_the_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = CliRunner().invoke(app, ["--help"]).output.partition("Commands:")[2]
    assert listed.strip()
    assert "..." not in listed


@pytest.mark.parametrize(("count", "said"), [(0, "0 trials"), (1, "1 trial"), (2, "2 trials")])
def test_one_of_a_thing_is_no_plural(count: int, said: str) -> None:
    assert counted(count, "trial") == said


def test_text_in_a_pipe_is_not_wrapped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    search = sample_search(tmp_path / "run")
    folder = RunFolder.create(tmp_path / "run", search)
    folder.write_front(sample_front(search))
    front(folder.path)
    lines = capsys.readouterr().out.splitlines()
    assert any(len(line) > 100 for line in lines)
    assert [line for line in lines if line != line.rstrip() and line.rstrip().endswith((",", ";", "."))] == []


@pytest.mark.parametrize("command", ["devices", "backends"])
def test_what_is_listed_is_printed_to_the_letter(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune_backends.cpu.installed", lambda _: None)
    monkeypatch.setenv("COLUMNS", "200")
    said = CliRunner().invoke(app, [command]).output
    assert ("openvino" in said) is (command == "backends")  # without its package it has no device
    assert ("pip install 'autotune-inference[openvino]'" in said) is (command == "backends")

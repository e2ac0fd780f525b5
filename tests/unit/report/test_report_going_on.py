"""The commands after an answer: each can be typed as it stands."""

from __future__ import annotations

import io
import shlex
from pathlib import Path

import pytest
import typer.main
from rich.console import Console

from autotune.cli.main import app
from autotune.core.front import Front
from autotune.report.going_on import export_command, going_on, print_going_on, search_again
from autotune.runs.search_file import SearchFile, Tracking
from autotune.testing.sample_search import sample_search


@pytest.fixture
def search(tmp_path: Path) -> SearchFile:
    return sample_search(tmp_path).model_copy(update={"budget_s": 120.0, "max_trials": None})


def read(command: str) -> str:
    """The command's name, when the command line takes its words."""
    words = shlex.split(command)
    assert words[0] == "autotune"
    group = typer.main.get_command(app)
    with group.make_context("autotune", words[1:]) as context:
        name, found, rest = group.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None
        found.make_context(name, rest, parent=context)
    return str(name)


@pytest.mark.parametrize("run", ["runs/digits", "runs/my model", "rün/it's $HOME"])
def test_each_command_is_taken_whatever_the_folder_is_called(front: Front, search: SearchFile, run: str) -> None:
    commands = [command for command, _ in [*going_on(front, search, run), search_again(run)]]
    assert [read(command) for command in commands] == ["export", "ui", "search", "search"]
    assert all(any(word.startswith(run) for word in shlex.split(command)) for command in commands)


def test_going_on_doubles_the_budget(front: Front, search: SearchFile) -> None:
    for spent, told in ((45.0, "1m30s"), (120.0, "4m"), (2700.0, "1h30m"), (43200.0, "1d")):
        longer = search.model_copy(update={"budget_s": spent})
        assert going_on(front, longer, "run")[-1][0].endswith(f"--budget {told}")


def test_what_would_do_nothing_is_not_told(front: Front, search: SearchFile) -> None:
    bounded = search.model_copy(update={"max_trials": 5, "tracking": Tracking(enabled=False)})
    assert [read(command) for command, _ in going_on(front, bounded, "run")] == ["export", "front"]


def test_a_graph_is_not_exported_and_a_simulated_server_is_configured(front: Front, search: SearchFile) -> None:
    graph = front.model_copy(update={"kind": "simulated"})
    assert export_command(graph, "run", front.points[0]) is None
    assert [read(command) for command, _ in going_on(graph, search, "run")] == ["ui", "search"]


def test_lines_are_printed_whole_so_that_they_can_be_copied(front: Front, search: SearchFile) -> None:
    stream = io.StringIO()
    run = f"runs/{'long' * 30}"
    print_going_on(front, search, run, Console(file=stream, width=80))
    lines = stream.getvalue().splitlines()
    assert [line[6:] for line in lines] == [command for command, _ in going_on(front, search, run)]
    assert lines[0].startswith("next: autotune export")

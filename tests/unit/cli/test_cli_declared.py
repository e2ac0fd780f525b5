"""Options are declared once, as fields, and mean the same on the command line and in Python."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

import autotune
from autotune.api.searching import search
from autotune.api.settings import SearchSettings
from autotune.cli.declared import command_of
from autotune.cli.search_options import SearchOptions
from autotune.core.errors import UserError


@dataclass(frozen=True)
class Options:
    name: Annotated[str, typer.Argument(help="Of whom.")]
    times: Annotated[int, typer.Option(min=1, help="How often.")] = 1
    to: Annotated[list[Path] | None, typer.Option(help="Where to.")] = None
    loud: Annotated[bool, typer.Option("--loud", help="Shout.")] = False


def run(arguments: list[str]) -> tuple[int, str, list[Options]]:
    seen: list[Options] = []

    def greet(options: Options) -> int:
        """Greet somebody."""
        seen.append(options)
        return 0

    app = typer.Typer()
    app.command()(command_of(Options, greet))
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.output, seen


def test_every_field_is_an_option_with_its_type_and_default() -> None:
    assert run(["Ann"])[2] == [Options("Ann")]
    assert run(["Ann", "--times", "3", "--to", "a", "--to", "b", "--loud"])[2] == [
        Options("Ann", 3, [Path("a"), Path("b")], loud=True)
    ]
    assert run(["Ann", "--times", "0"])[0] == run([])[0] == 2


def test_the_help_is_the_fields_and_the_functions() -> None:
    said = run(["--help"])[1]
    assert all(words in said for words in ("Greet somebody.", "Of whom.", "How often.", "Where to.", "Shout."))


def test_the_command_and_python_take_the_same_options_with_the_same_defaults() -> None:
    typed = SearchOptions().settings()
    python = {name: one.default for name, one in inspect.signature(search).parameters.items()}
    assert typed.keys() | {"budget"} == python.keys()
    assert typed.keys() <= SearchSettings.model_fields.keys()
    assert {name: value for name, value in python.items() if name not in ("model", "budget")} == {
        name: value for name, value in typed.items() if name != "model"
    }


def test_what_may_be_given_several_times_reaches_the_settings_whole() -> None:
    several = {field.name for field in fields(SearchOptions) if str(field.type).count("list[str]")}
    given = SearchOptions(**{name: [name, "b"] for name in several}).settings()  # type: ignore[arg-type]
    assert {name for name, value in given.items() if isinstance(value, tuple) and value} == {f"{n}s" for n in several}


def test_a_word_where_a_list_belongs_is_a_persons_mistake() -> None:
    with pytest.raises(UserError, match="objectives='latency_p50'"):
        autotune.search("m.onnx", objectives="latency_p50")

"""The entry point: dispatches to a command and turns what went wrong into a message and an exit code."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

import autotune
from autotune.cli import clean, doctor, export, front, gate, listings, pick, search, simulate, spaces, sync, ui, verify
from autotune.cli.commands import Commands
from autotune.cli.signals import end_quietly, ending_in_order
from autotune.core.errors import ExitCode, UserError
from autotune.core.surroundings import explained
from autotune.user_code import find_code_in

__all__ = ["app", "run"]

app = typer.Typer(
    name="autotune",
    cls=Commands,
    help="Find the fastest, cheapest, most frugal and most accurate ways to run a model, measured on your hardware.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (search, front, simulate, pick, export, verify, gate, ui, sync, clean, listings, spaces, doctor):
    module.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"autotune {autotune.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of autotune itself."""


def run(argv: list[str] | None = None) -> None:
    """Run the command line and exit. Never shows a traceback, unless ``--debug`` is among the arguments."""
    arguments = sys.argv[1:] if argv is None else argv
    debug = "--debug" in arguments
    with suppress(OSError):  # the folder may be gone; the console script searches its own instead of the current one
        find_code_in(Path.cwd())
    try:
        with ending_in_order():
            code = _dispatch([argument for argument in arguments if argument != "--debug"], debug)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        end_quietly()
    sys.exit(code)


def _dispatch(arguments: list[str], debug: bool) -> int:
    try:
        return int(app(arguments, prog_name="autotune", standalone_mode=False) or 0)
    except UserError as error:
        if debug:
            raise
        return _refused(error)
    except KeyboardInterrupt:
        return int(ExitCode.SIGINT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.DONE)
    except Exception as error:
        if hasattr(error, "format_message"):  # a usage error of the command-line library
            return _misused(error.format_message(), arguments)
        if debug:
            raise
        return _unexpected(error)


def _misused(message: str, arguments: list[str]) -> int:
    """What the command-line library says; where nothing was asked for, that is the help."""
    said = f"autotune: {message}\nsee `autotune {_command(arguments)}--help`" if arguments else message
    print(said, file=sys.stderr)
    return int(ExitCode.USAGE)


def _unexpected(error: Exception) -> int:
    if isinstance(error, OSError) and (mistake := explained(error)) is not None:
        return _refused(mistake)
    said = str(error).strip().rpartition("\n")[2]  # a trial's process reports its whole traceback
    print(
        f"autotune: this is a bug in autotune: {type(error).__name__}: {said}\n"
        "what was found so far is kept; run again with --debug for the traceback, and please report it",
        file=sys.stderr,
    )
    return int(ExitCode.BUG)


def _refused(error: UserError) -> int:
    print(f"autotune: {error}", file=sys.stderr)
    return int(error.exit_code)


def _command(arguments: list[str]) -> str:
    known = {command.callback.__name__ for command in app.registered_commands if command.callback is not None}
    return f"{arguments[0]} " if arguments and arguments[0] in known else ""

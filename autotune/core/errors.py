"""What can go wrong, by whose fault: a person's mistake, a trial's failure; anything else is a bug."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import IntEnum
from typing import Literal

__all__ = [
    "NOT_RUNNING",
    "AllTrialsFailed",
    "BuildError",
    "Cause",
    "CheckError",
    "ExitCode",
    "MeasureError",
    "NothingFeasible",
    "OpenError",
    "OutOfTime",
    "Stage",
    "TrialError",
    "UserError",
    "nearest",
]

NOT_RUNNING = "the unmodified model does not run"
"""How messages begin that are not about a candidate."""

Stage = Literal["build", "open", "check", "measure", "timeout", "lost"]
Cause = Literal[
    "out_of_memory",
    "timeout",
    "crash",
    "unsupported",
    "wrong_output",
    "nan",
    "custom_op",
    "disk",
    "lost",
    "other",
]


class ExitCode(IntEnum):
    """What a command's exit status means; scripts rely on these."""

    DONE = 0
    BROKEN = 1
    USAGE = 2
    NOTHING_FEASIBLE = 3
    INCONCLUSIVE = 4
    ALL_FAILED = 5
    BUG = 70
    SIGINT = 130
    SIGTERM = 143


class UserError(Exception):
    """A person's mistake: what is wrong and where, then what to do. Shown as at most two lines."""

    exit_code = ExitCode.USAGE

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.problem}\n{self.remedy}" if self.remedy else self.problem


class NothingFeasible(UserError):
    """Trials succeeded, but none holds every limit."""

    exit_code = ExitCode.NOTHING_FEASIBLE


class AllTrialsFailed(UserError):
    """No trial succeeded, the unmodified model included."""

    exit_code = ExitCode.ALL_FAILED


class OutOfTime(UserError):
    """The budget was used up before the unmodified model was measured: nothing can be said."""

    exit_code = ExitCode.INCONCLUSIVE


class TrialError(Exception):
    """A candidate could not be built, opened, checked or measured. ``run_trial`` turns it into a ``Failure``."""

    stage: Stage

    def __init__(self, cause: Cause, message: str) -> None:
        super().__init__(cause, message)
        self.cause: Cause = cause
        self.message = message

    def __str__(self) -> str:
        return f"{self.stage} failed ({self.cause}): {self.message}"


class BuildError(TrialError):
    """The candidate's artifact could not be made."""

    stage: Stage = "build"


class OpenError(TrialError):
    """The artifact could not be opened as a session."""

    stage: Stage = "open"


class CheckError(TrialError):
    """The session's output is wrong."""

    stage: Stage = "check"


class MeasureError(TrialError):
    """The session ended or misbehaved while it was measured."""

    stage: Stage = "measure"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the closest of ``known``, or ``""`` when none is close."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""

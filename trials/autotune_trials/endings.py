"""How a trial ended that left no record: from what was seen of it to a failure."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass

from autotune.core.errors import ExitCode, Stage, UserError
from autotune.core.trial import Cost, Failure, Trial, TrialRecord
from autotune.core.units import format_duration

__all__ = ["Ending", "TrialBug", "ended_without_record", "failed_record", "out_of_memory", "timed_out"]

_STOPPED_BY_OTHERS = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}
_SHOWN_CHARACTERS = 500


class TrialBug(RuntimeError):
    """The trial's process met an error that no candidate may cause. Its message holds the process's own traceback."""


@dataclass(frozen=True)
class Ending:
    """``status`` as ``subprocess`` tells it; ``output``: the last the process printed; ``stage``: None before the first.

    ``oom_kills``: processes that the kernel killed for memory while it ran.
    """

    status: int
    output: str
    stage: Stage | None
    oom_kills: int = 0


def ended_without_record(ending: Ending) -> Failure:
    """Return the failure. Raises ``UserError`` and ``TrialBug`` when that is what the process reported."""
    if ending.status == ExitCode.USAGE:
        problem, _, remedy = ending.output.strip().rpartition("\n")
        raise UserError(problem.rpartition("\n")[2] or remedy, remedy if problem else "")
    if ending.status == ExitCode.BUG or (ending.status >= 0 and "Traceback (most recent" in ending.output):
        raise TrialBug(f"a trial's process failed (exit status {ending.status}):\n{ending.output.strip()}")
    if ending.status >= 0:
        return _crash(ending, f"the trial's process exited with status {ending.status}")
    name = _signal_name(-ending.status)
    if -ending.status == signal.SIGKILL and ending.oom_kills:
        message = f"the kernel ended the trial's process for memory ({name})"
        return Failure(stage=ending.stage or "lost", cause="out_of_memory", message=message)
    if -ending.status in _STOPPED_BY_OTHERS:
        return Failure(stage="lost", cause="lost", message=f"the trial's process was ended from outside by {name}")
    return _crash(ending, f"the trial's process ended by {name}")


def failed_record(trial: Trial, failure: Failure, started_s: float, environment: str) -> TrialRecord:
    """The record of a trial that ends now. ``started_s``: Unix time; ``environment``: its SHA-256."""
    now_s = time.time()
    cost = Cost(other_s=max(now_s - started_s, 0.0))
    return TrialRecord(
        trial=trial, started_s=started_s, finished_s=now_s, cost=cost, outcome=failure, environment=environment
    )


def timed_out(limit_s: float, stage: Stage | None) -> Failure:
    """The failure of a trial that ran for longer than its plan allows."""
    at = f" (it was at: {stage})" if stage else ""
    return Failure(stage="timeout", cause="timeout", message=f"not done after {format_duration(limit_s)}{at}")


def out_of_memory(used_bytes: int, limit_bytes: int, stage: Stage | None) -> Failure:
    """The failure of a trial whose processes used more memory than it may."""
    message = f"its processes used {used_bytes / 2**20:,.0f} MiB, more than the limit of {limit_bytes / 2**20:,.0f} MiB"
    return Failure(stage=stage or "lost", cause="out_of_memory", message=message)


def _crash(ending: Ending, what: str) -> Failure:
    lines = [line.strip() for line in ending.output.splitlines() if line.strip()]
    last = f": {lines[-1][:_SHOWN_CHARACTERS]}" if lines else ""
    return Failure(stage=ending.stage or "lost", cause="crash", message=f"{what}{last}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

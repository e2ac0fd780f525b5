"""A trial in a process of its own: started, watched, ended."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import psutil

from autotune.core.assignment import Assignment
from autotune.core.trial import Failure, Trial, TrialRecord
from autotune.host.memory import memory_limit
from autotune.measure.lifetime import oom_kills
from autotune.runs.atomic import write_atomic
from autotune.runs.layout import RunLayout
from autotune_trials.endings import Ending, ended_without_record, failed_record, out_of_memory, timed_out
from autotune_trials.stages import stage_file, stage_of
from autotune_trials.tree import ProcessTree

__all__ = ["TrialProcess", "end_abandoned", "process_file", "process_lives", "run_in_process", "sleep_until_change"]

_MEMORY_SHARE = 0.9  # of the counted memory: what a trial may use when its plan sets no limit
_CALM_S, _TENSE_S = 1.0, 0.2  # between two looks at memory: below half of the limit, and above
_OUTPUT_BYTES = 8192


def process_file(work: Path) -> Path:
    """Where the id of the process that carries out the assignment file ``work`` is kept while it lives."""
    return work.with_suffix(".pid")


class TrialProcess:
    """One running trial. ``finished`` must be called until it returns the record; ``kill`` ends everything at any time.

    The process dies with the thread that made this object (PR_SET_PDEATHSIG), however that ends.
    """

    def __init__(self, assignment: Assignment, environment: Mapping[str, str]) -> None:
        self.trial: Trial = assignment.trial
        self._environment_sha256 = assignment.context.environment.sha256
        layout = RunLayout(folder=assignment.context.folder)
        self._work = layout.work(self.trial.id)
        self._log = layout.log(self.trial.id)
        self._oom_kills_before = oom_kills()
        self._memory_limit_bytes = self.trial.plan.memory_limit_bytes or _default_memory_limit()
        self._started_s = time.time()
        self._due_s = time.monotonic() + self.trial.plan.time_limit_s
        self._look_s = time.monotonic() + _CALM_S
        self._process = self._start(assignment, environment)
        self._tree = ProcessTree(self._process.pid)
        self._ended = os.pidfd_open(self._process.pid)

    def fileno(self) -> int:
        """A descriptor that turns readable when the process ends."""
        return self._ended

    def next_look_s(self) -> float:
        """When it has to be looked at next, though nothing may have happened (``time.monotonic()``)."""
        return min(self._due_s, self._look_s)

    def finished(self) -> TrialRecord | None:
        """Its record once it has ended, or has been ended for using too much time or memory; None while it runs.

        Raises ``UserError`` and ``TrialBug`` when the process reported that.
        """
        if self._process.poll() is not None:
            return self._close(None)
        now = time.monotonic()
        if now >= self._due_s:
            return self._close(timed_out(self.trial.plan.time_limit_s, stage_of(self._work)))
        return self._look(now) if now >= self._look_s else None

    def kill(self) -> None:
        """End the whole process tree and forget it. Calling it again, or after the record was given, does nothing."""
        if self._ended < 0:
            return
        self._tree.kill()
        self._process.wait()
        os.close(self._ended)
        self._ended = -1
        _clear(self._work)

    def _start(self, assignment: Assignment, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        for file in (self._work, self._log):
            file.parent.mkdir(parents=True, exist_ok=True)
        _clear(self._work)
        started = assignment.model_copy(update={"started_s": self._started_s})
        write_atomic(self._work, started.model_dump_json().encode())
        with self._log.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "autotune_trials.run_trial", str(self._work), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                start_new_session=True,
            )
        process_file(self._work).write_text(str(process.pid))
        return process

    def _look(self, now: float) -> TrialRecord | None:
        used = self._tree.memory_bytes()
        if used > self._memory_limit_bytes:
            return self._close(out_of_memory(used, self._memory_limit_bytes, stage_of(self._work)))
        self._look_s = now + (_CALM_S if used < self._memory_limit_bytes / 2 else _TENSE_S)
        return None

    def _close(self, failure: Failure | None) -> TrialRecord:
        """End all, and return the record: the process's own when it left one, else one of the failure."""
        try:
            with contextlib.suppress(FileNotFoundError):
                return TrialRecord.model_validate_json(_record_file(self._work).read_bytes())
            failure = failure or ended_without_record(self._ending())
            return failed_record(self.trial, failure, self._started_s, self._environment_sha256)
        finally:
            self.kill()

    def _ending(self) -> Ending:
        return Ending(
            status=self._process.wait(),
            output=_tail(self._log),
            stage=stage_of(self._work),
            oom_kills=oom_kills() - self._oom_kills_before,
        )


class Watched(Protocol):
    """What can be waited for: readable when there is something to do, to be looked at by a certain time anyhow."""

    def fileno(self) -> int:
        """A descriptor."""
        ...

    def next_look_s(self) -> float:
        """``time.monotonic()``."""
        ...


def sleep_until_change(processes: Sequence[Watched], timeout_s: float) -> None:
    """Sleep until one of them ends or has to be looked at, or for ``timeout_s`` seconds."""
    looks = [process.next_look_s() - time.monotonic() for process in processes]
    poll = select.poll()
    for process in processes:
        poll.register(process, select.POLLIN)
    poll.poll(max(min([timeout_s, *looks]), 0.0) * 1000)


def run_in_process(
    assignment: Assignment,
    environment: Mapping[str, str],
    beside: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
) -> TrialRecord:
    """Run one trial to its end, within ``beside`` once it has started. Raises as ``TrialProcess.finished`` does."""
    process = TrialProcess(assignment, environment)
    try:
        with beside():
            while (record := process.finished()) is None:
                sleep_until_change([process], 1.0)
        return record
    finally:
        process.kill()


def process_lives(work: Path) -> bool:
    """Whether the process that carries out the assignment file ``work`` has started and not ended."""
    return _process_of(work) is not None


def end_abandoned(work: Path) -> None:
    """End the trial with the assignment file ``work``, whose owner was killed, and remove its files.

    The kernel ends it anyhow (PR_SET_PDEATHSIG); this returns when it has.
    """
    with contextlib.suppress(psutil.Error):
        if (process := _process_of(work)) is not None:
            ProcessTree(process.pid).kill()
    _clear(work)


def _process_of(work: Path) -> psutil.Process | None:
    """The living process of that assignment file: one whose id was given to another, or that nobody reaped, is not it."""
    with contextlib.suppress(OSError, ValueError, psutil.Error):
        process = psutil.Process(int(process_file(work).read_text()))
        if str(work) in process.cmdline():
            return process
    return None


def _clear(work: Path) -> None:
    for file in (work, stage_file(work), process_file(work), _record_file(work)):
        file.unlink(missing_ok=True)


def _record_file(work: Path) -> Path:
    return work.with_suffix(".record.json")


def _default_memory_limit() -> int:
    """``_MEMORY_SHARE`` of what may be used; without bound where that is unknown."""
    counted = memory_limit().bytes
    return 2**63 if counted is None else int(counted * _MEMORY_SHARE)


def _tail(file: Path) -> str:
    with file.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _OUTPUT_BYTES))
        return stream.read().decode(errors="replace")

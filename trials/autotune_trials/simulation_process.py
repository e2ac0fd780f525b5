"""The driver's end of simulation workers: processes that carry out many simulated trials, one at a time each."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping

from autotune.core.assignment import Assignment
from autotune.core.errors import UserError
from autotune.core.trial import Failure, Trial, TrialRecord
from autotune_trials.endings import TrialBug, failed_record, timed_out

__all__ = ["SimulatedTrial", "SimulationWorkers"]


class _Worker:
    """One process. It dies with the thread that started it, or when its stdin is closed."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "autotune_trials.simulation_worker", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,
        )

    def end(self) -> None:
        """Kill it; again: nothing."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


class SimulationWorkers:
    """Idle workers, kept for the next trial."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._idle: list[_Worker] = []

    def start(self, assignment: Assignment) -> SimulatedTrial:
        """Give the trial to an idle worker, or to a new one."""
        while self._idle:
            worker = self._idle.pop()
            if worker.process.poll() is None:
                return SimulatedTrial(assignment, worker, self)
            worker.end()
        return SimulatedTrial(assignment, _Worker(self._environment), self)

    def keep(self, worker: _Worker) -> None:
        """Take a worker back that has nothing to do."""
        self._idle.append(worker)

    def end(self) -> None:
        """End the idle ones."""
        for worker in self._idle:
            worker.end()
        self._idle.clear()


class SimulatedTrial:
    """A trial that a worker carries out: has what ``TrialProcess`` has."""

    def __init__(self, assignment: Assignment, worker: _Worker, workers: SimulationWorkers) -> None:
        self.trial: Trial = assignment.trial
        self._environment_sha256 = assignment.context.environment.sha256
        self._worker, self._workers = worker, workers
        self._started_s = time.time()
        self._due_s = time.monotonic() + self.trial.plan.time_limit_s
        self._open = True
        started = assignment.model_copy(update={"started_s": self._started_s})
        assert worker.process.stdin is not None
        try:
            worker.process.stdin.write(started.model_dump_json().encode() + b"\n")
            worker.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended: its stdout says so

    def fileno(self) -> int:
        """A descriptor that turns readable when there is an answer, or none will come."""
        assert self._worker.process.stdout is not None
        return self._worker.process.stdout.fileno()

    def next_look_s(self) -> float:
        """When it has to be looked at next (``time.monotonic()``)."""
        return self._due_s

    def finished(self) -> TrialRecord | None:
        """Its record once there is one; None while it runs. Raises ``UserError`` and ``TrialBug`` when one was met."""
        if _readable(self.fileno()):
            return self._answered()
        if time.monotonic() >= self._due_s:
            self.kill()
            return self._failed(timed_out(self.trial.plan.time_limit_s, "measure"))
        return None

    def kill(self) -> None:
        """End the worker with the trial. After the record was given: nothing."""
        if self._open:
            self._open = False
            self._worker.end()

    def _answered(self) -> TrialRecord:
        assert self._worker.process.stdout is not None
        line = self._worker.process.stdout.readline()
        if not line:
            self.kill()
            status = self._worker.process.returncode
            return self._failed(Failure(stage="lost", cause="lost", message=f"its process ended ({status})"))
        self._open = False
        self._workers.keep(self._worker)
        kind, *content = json.loads(line)
        if kind == "mistake":
            raise UserError(*content)
        if kind == "bug":
            raise TrialBug(*content)
        return TrialRecord.model_validate_json(content[0])

    def _failed(self, failure: Failure) -> TrialRecord:
        return failed_record(self.trial, failure, self._started_s, self._environment_sha256)


def _readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])

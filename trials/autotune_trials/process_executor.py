"""Runs trials on this machine, without anything between."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from autotune.core.assignment import Assignment, SearchContext
from autotune.core.errors import UserError
from autotune.core.trial import Trial, TrialRecord
from autotune.core.values import Value
from autotune.host.cpus import counted_cpus
from autotune_trials.environment import trial_environment
from autotune_trials.process import TrialProcess, sleep_until_change
from autotune_trials.simulating import is_simulated
from autotune_trials.simulation_process import SimulatedTrial, SimulationWorkers
from autotune_trials.slots import free_slots

__all__ = ["ProcessExecutor"]


class ProcessExecutor:
    """Implements ``core.ports.Executor``. Trials die with the thread that submitted them: submit from one that stays."""

    def __init__(self, context: SearchContext, address: str | None = None) -> None:
        """Raises ``UserError`` when given an ``address``: it has none."""
        if address is not None:
            raise UserError(
                "the process executor runs on this machine only", "leave --address out, or take --executor ray"
            )
        self._context = context
        self._environment = trial_environment()
        self._workers = SimulationWorkers(self._environment)
        self._running: list[TrialProcess | SimulatedTrial] = []

    def free_slots(self, device: str) -> int:
        """How many trials could start there now."""
        running = [self._context.device(process.trial.device) for process in self._running]
        return free_slots(self._context.device(device), running, counted_cpus())

    def submit(self, trial: Trial, bar: Sequence[Mapping[str, Value]] = ()) -> None:
        """Start a trial."""
        assignment = Assignment(trial=trial, context=self._context, bar=tuple(dict(point) for point in bar))
        simulated = is_simulated(assignment)
        start = self._workers.start(assignment) if simulated else TrialProcess(assignment, self._environment)
        self._running.append(start)

    def wait(self, timeout_s: float) -> list[TrialRecord]:
        """Sleep until a trial ends, or for ``timeout_s``. Raises ``TrialBug`` or ``UserError`` when a trial met one."""
        due = time.monotonic() + timeout_s
        while (record := self._next()) is None and (left := due - time.monotonic()) > 0:
            sleep_until_change(self._running, left)
        return [] if record is None else [record]

    def cancel(self) -> list[Trial]:
        """End every running trial with its whole process tree, and return those trials."""
        ended = [process.trial for process in self._running]
        for process in self._running:
            process.kill()
        self._running.clear()
        return ended

    def shutdown(self) -> None:
        """End what still runs, and what waits for more."""
        self.cancel()
        self._workers.end()

    def _next(self) -> TrialRecord | None:
        """The record of one trial that ended: one at a time, so that a bug in one loses no other's."""
        for process in self._running:
            try:
                record = process.finished()
            except Exception:
                self._running.remove(process)
                raise
            if record is not None:
                self._running.remove(process)
                return record
        return None

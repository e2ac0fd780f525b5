"""Runs trials in Ray tasks: on this machine, or on this machine's node of an existing cluster."""

from __future__ import annotations

import contextlib
import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from autotune.core.assignment import Assignment, SearchContext
from autotune.core.errors import UserError
from autotune.core.trial import Failure, Trial, TrialRecord
from autotune.core.values import Value
from autotune.host.cpus import counted_cpus
from autotune.runs.layout import RunLayout
from autotune_trials.endings import TrialBug, failed_record
from autotune_trials.environment import trial_environment
from autotune_trials.process import end_abandoned, process_lives, run_in_process
from autotune_trials.ray_pausing import daemons_of, ray_paused, wake
from autotune_trials.ray_settings import OBJECT_STORE_BYTES, ray_environment, short_folder, unreachable, without_amdsmi
from autotune_trials.simulating import is_simulated
from autotune_trials.simulation_worker import answer
from autotune_trials.slots import free_slots

__all__ = ["RayExecutor"]


class RayExecutor:
    """Implements ``core.ports.Executor``. A trial is a task, which runs it in a process of its own and is never retried.

    Without an address Ray starts in the background: the constructor returns at once, the first ``submit`` waits for it.
    """

    def __init__(self, context: SearchContext, address: str | None = None) -> None:
        """Raises ``UserError`` when there is no cluster at ``address``."""
        self._context = context
        self._layout = RunLayout(folder=context.folder)
        # On this machine the driver's environment rules: what Ray adds in its workers changes how libraries compute.
        self._environment = trial_environment() if address is None else None
        self._running: dict[Any, tuple[Trial, float]] = {}
        self._ray = _Ray(address)
        if address is not None:
            self._ray.wait_until_ready()

    def start(self) -> None:
        """Wait until Ray has started. Raises ``UserError`` when it cannot."""
        self._ray.wait_until_ready()

    def free_slots(self, device: str) -> int:
        """How many trials could start there now."""
        running = [self._context.device(trial.device) for trial, _ in self._running.values()]
        return free_slots(self._context.device(device), running, counted_cpus())

    def submit(self, trial: Trial, bar: Sequence[Mapping[str, Value]] = ()) -> None:
        """Start a trial, once Ray has started. Raises ``UserError`` when Ray cannot."""
        assignment = Assignment(trial=trial, context=self._context, bar=tuple(dict(point) for point in bar))
        task = self._ray.task()
        reference = task.remote(assignment.model_dump_json(), self._environment, pause=self._ray.ours)
        self._running[reference] = trial, time.time()

    def wait(self, timeout_s: float) -> list[TrialRecord]:
        """Sleep until a trial ends, or for ``timeout_s``. Raises ``TrialBug`` or ``UserError`` when a trial met one."""
        if not self._running:
            time.sleep(timeout_s)
            return []
        import ray

        if not any(process_lives(self._layout.work(trial.id)) for trial, _ in self._running.values()):
            self._ray.wake()  # whoever paused them may be gone
        ended, _ = ray.wait(list(self._running), num_returns=1, timeout=timeout_s)
        return [self._record(reference) for reference in ended]

    def cancel(self) -> list[Trial]:
        """End every running trial with its whole process tree, and return those trials."""
        if not self._running:
            return []
        import ray

        self._ray.wake()
        ended = [trial for trial, _ in self._running.values()]
        for reference in self._running:
            ray.cancel(reference, force=True)
        ray.wait(list(self._running), num_returns=len(self._running), timeout=5)
        self._running.clear()
        for trial in ended:
            end_abandoned(self._layout.work(trial.id))
        return ended

    def shutdown(self) -> None:
        """End what still runs, and Ray when it was started here."""
        self.cancel()
        self._ray.stop()

    def _record(self, reference: Any) -> TrialRecord:
        trial, started_s = self._running.pop(reference)
        import ray

        try:
            kind, *content = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            raise TrialBug(str(error)) from error
        except ray.exceptions.RayError as error:
            end_abandoned(self._layout.work(trial.id))
            reason = str(error).strip().splitlines()[0]
            failure = Failure(stage="lost", cause="lost", message=f"its Ray worker was lost: {reason}")
            return failed_record(trial, failure, started_s, self._context.environment.sha256)
        if kind == "mistake":
            raise UserError(*content)
        if kind == "bug":
            raise TrialBug(*content)
        return TrialRecord.model_validate_json(content[0])


def _run(assignment: str, environment: dict[str, str] | None, *, pause: bool) -> tuple[str, ...]:
    """Run one trial, inside a Ray worker: a simulated one here, any other in a process of its own.

    ``environment`` None: the worker's own rules. ``pause``: Ray is the driver's own, and pauses meanwhile.
    Returns what happened as text: an exception's class might not be known where it arrives.
    """
    read = Assignment.model_validate_json(assignment)
    if is_simulated(read):
        with tempfile.TemporaryDirectory(prefix="autotune-simulating-") as folder:
            return answer(assignment, Path(folder) / "trial.json")
    try:
        record = run_in_process(
            read, environment or trial_environment(), ray_paused if pause else contextlib.nullcontext
        )
    except UserError as error:
        return "mistake", error.problem, error.remedy
    except TrialBug as error:
        return "bug", str(error)
    return "record", record.to_json()


class _Ray:
    """Ray's start and end, in a thread that stays alive between: Ray's daemons die with the thread that started them.

    In a program that uses Ray already, it is used as it is and left running.
    """

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._ready, self._stop = threading.Event(), threading.Event()
        self._error: BaseException | None = None
        self._task: Any = None
        self._started = False
        self._folder = Path(short_folder())
        self._thread = threading.Thread(target=self._live, name="ray", daemon=True)
        self._thread.start()

    def wait_until_ready(self) -> None:
        """Return when Ray has started. Raises ``UserError`` when it could not."""
        self._ready.wait()
        if self._error is not None:
            raise self._error

    def task(self) -> Any:
        """What runs a trial, as a Ray task."""
        self.wait_until_ready()
        return self._task

    @property
    def ours(self) -> bool:
        """Whether it was started here, and for nothing else."""
        return self._started and self._address is None

    def wake(self) -> None:
        """Let its daemons go on, should they be paused."""
        if self.ours:
            wake(daemons_of(psutil.Process()))

    def stop(self) -> None:
        """Shut Ray down. Calling it again does nothing."""
        self.wake()
        self._stop.set()
        self._thread.join()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _live(self) -> None:
        try:
            with ray_environment() if self._address is None else contextlib.nullcontext():
                self._start()
        except Exception as error:
            self._error = self._explained(error)
        self._ready.set()
        self._stop.wait()
        if self._started:
            import ray

            ray.shutdown()

    def _start(self) -> None:
        if self._address is not None and (reason := unreachable(self._address)):
            raise ConnectionError(reason)
        with without_amdsmi(self._folder / "python"):
            import ray

            logging.getLogger("ray").setLevel(logging.ERROR)
            if not ray.is_initialized():
                ray.init(**self._arguments())
                self._started = True
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=False
        )
        self._task = ray.remote(max_retries=0, num_cpus=0, scheduling_strategy=here)(_run)

    def _arguments(self) -> dict[str, Any]:
        quiet = {"configure_logging": False, "log_to_driver": False}
        if self._address is not None:
            return {"address": self._address, **quiet}
        return {
            "address": "local",
            "num_cpus": 1,
            "num_gpus": 0,
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE_BYTES,
            "_temp_dir": str(self._folder),
            "_plasma_directory": str(self._folder),
            **quiet,
        }

    def _explained(self, error: Exception) -> Exception:
        if self._address is not None:
            first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            return UserError(f"there is no Ray cluster at {self._address}: {first}", "start it, or leave --address out")
        return UserError(f"Ray could not be started: {error}", "take --executor process")

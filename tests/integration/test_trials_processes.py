"""What becomes of trials when processes around them are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from autotune.core.assignment import SearchContext
from autotune.core.errors import UserError
from autotune.core.trial import Failure
from autotune.testing.executor_suite import fake_context, fake_trial, processes_of, wait_for
from autotune.testing.fake_backend import install
from autotune_trials.process_executor import ProcessExecutor
from autotune_trials.ray_executor import RayExecutor
from autotune_trials.ray_pausing import daemons_of

DRIVER = """
import sys, time
from pathlib import Path
from autotune.testing.executor_suite import fake_context, fake_trial
from {module} import {name}
if __name__ == "__main__":
    context = fake_context(Path(sys.argv[1]))
    executor = {name}(context)
    executor.submit(fake_trial(context, "t0001", behaviour="hang"))
    print("submitted", flush=True)
    while True:
        executor.wait(1.0)
"""
EXECUTORS = {
    "process": ("autotune_trials.process_executor", "ProcessExecutor"),
    "ray": ("autotune_trials.ray_executor", "RayExecutor"),
}


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SearchContext:
    install(tmp_path / "plugins")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "plugins"), prepend=os.pathsep)
    (tmp_path / "run").mkdir()
    return fake_context(tmp_path / "run")


@pytest.fixture
def ray_executor(context: SearchContext) -> Iterator[RayExecutor]:
    executor = RayExecutor(context)
    executor.start()
    yield executor
    executor.shutdown()


def wait_until(holds: Callable[[], bool], patience_s: float = 40.0) -> None:
    due = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < due
        time.sleep(0.05)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_killed_driver_leaves_no_trial_running(context: SearchContext, executor: str) -> None:
    module, name = EXECUTORS[executor]
    command = [sys.executable, "-c", DRIVER.format(module=module, name=name), str(context.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == "submitted\n"
        wait_until(lambda: len(processes_of(context.folder)) >= 2)
        trial = processes_of(context.folder)
        driver.kill()
        driver.wait()
        wait_until(lambda: not any(_alive(process) for process in trial))


def _alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_trial_that_somebody_kills_is_lost_not_a_crash(context: SearchContext, number: signal.Signals) -> None:
    executor = ProcessExecutor(context)
    executor.submit(fake_trial(context, "t0001", behaviour="hang"))
    wait_until(lambda: len(processes_of(context.folder)) >= 2)
    processes_of(context.folder)[0].send_signal(number)
    (record,) = wait_for(executor, 1)
    assert isinstance(record.outcome, Failure)
    assert (record.outcome.stage, record.outcome.cause) == ("lost", "lost")
    assert number.name in record.outcome.message
    wait_until(lambda: not processes_of(context.folder))


def test_data_that_vanished_is_the_persons_mistake(context: SearchContext) -> None:
    data = context.data.model_copy(update={"path": context.folder / "gone.npz"})
    executor = ProcessExecutor(context.model_copy(update={"data": data}))
    executor.submit(fake_trial(context, "t0001"))
    with pytest.raises(UserError, match=r"gone\.npz"):
        wait_for(executor, 1)


def test_no_work_files_are_left_and_the_log_is_kept(context: SearchContext) -> None:
    executor = ProcessExecutor(context)
    executor.submit(fake_trial(context, "t0001"))
    wait_for(executor, 1)
    assert list((context.folder / "work").iterdir()) == []
    assert (context.folder / "logs" / "t0001.txt").is_file()


def test_a_killed_ray_worker_loses_its_trial_alone(context: SearchContext, ray_executor: RayExecutor) -> None:
    ray_executor.submit(fake_trial(context, "t0001", behaviour="hang"))
    wait_until(lambda: len(processes_of(context.folder)) >= 2)
    processes_of(context.folder)[0].parent().kill()
    (record,) = wait_for(ray_executor, 1)
    assert isinstance(record.outcome, Failure)
    assert (record.outcome.stage, record.outcome.cause) == ("lost", "lost")
    wait_until(lambda: not processes_of(context.folder))
    ray_executor.submit(fake_trial(context, "t0002"))
    (record,) = wait_for(ray_executor, 1)
    assert record.measurement is not None


def test_rays_daemons_pause_while_a_trial_runs_and_go_on_when_it_ended(
    context: SearchContext, ray_executor: RayExecutor
) -> None:
    daemons = daemons_of(psutil.Process())
    assert {"raylet", "gcs_server"} <= {daemon.name() for daemon in daemons}
    ray_executor.submit(fake_trial(context, "t0001", behaviour="hang"))
    wait_until(lambda: all(daemon.status() == psutil.STATUS_STOPPED for daemon in daemons))
    ray_executor.cancel()
    wait_until(lambda: not any(daemon.status() == psutil.STATUS_STOPPED for daemon in daemons))
    ray_executor.submit(fake_trial(context, "t0002"))
    (record,) = wait_for(ray_executor, 1)
    assert record.measurement is not None
    assert not any(daemon.status() == psutil.STATUS_STOPPED for daemon in daemons)


def test_ray_listens_on_this_machine_only_and_shares_no_token(
    context: SearchContext, ray_executor: RayExecutor
) -> None:
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    listening = [
        link.laddr.ip
        for process in family
        for link in process.net_connections(kind="tcp")
        if link.status == psutil.CONN_LISTEN
    ]
    assert listening
    assert {address.removeprefix("::ffff:") for address in listening} <= {"127.0.0.1", "::1"}
    assert not [name for name in os.environ if name.startswith("RAY_AUTH")]
    raylet = next(process for process in family if process.name() == "raylet")
    assert raylet.environ()["RAY_AUTH_MODE"] == "token"
    assert len(raylet.environ()["RAY_AUTH_TOKEN"]) == 64


def test_ray_sets_no_thread_count_in_trials(context: SearchContext, ray_executor: RayExecutor) -> None:
    ray_executor.submit(fake_trial(context, "t0001", behaviour="hang"))
    wait_until(lambda: len(processes_of(context.folder)) >= 2)
    environments = [process.environ() for process in processes_of(context.folder)]
    ray_executor.cancel()
    names = {name for environment in environments for name in environment}
    assert not [name for name in names if name.endswith("NUM_THREADS") or name.startswith("RAY_AUTH")], json.dumps(
        sorted(names)
    )


def test_an_address_without_a_cluster_is_the_persons_mistake(context: SearchContext) -> None:
    with pytest.raises(UserError, match="no Ray cluster at"):
        RayExecutor(context, "127.0.0.1:1")

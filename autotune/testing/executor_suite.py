"""What every executor must do, as a test class: subclass it and give it a ``factory``.

The trials are real: processes of the fake backend, which crash, hang and fill the memory in earnest.
"""

# ruff: noqa: D102  - a test's name says what it is for
from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from autotune.core.artifact import Artifact
from autotune.core.assignment import SearchContext
from autotune.core.candidate import Candidate, Scalar
from autotune.core.dataset import DataFacts, Split
from autotune.core.device import DeviceSpec
from autotune.core.environment import Environment
from autotune.core.keys import trial_key
from autotune.core.model import BatchAxis, ModelFacts, TensorFacts
from autotune.core.objective import objective
from autotune.core.plan import Plan
from autotune.core.ports import Executor, ExecutorFactory
from autotune.core.trial import Failure, Measurement, SameAs, Trial, TrialRecord
from autotune.core.workload import BUILT_IN
from autotune.testing.fake_backend import install

__all__ = ["ExecutorSuite", "fake_context", "fake_trial", "processes_of"]

QUICK = Plan(
    name="quick", round_s=0.01, min_rounds=3, max_rounds=6, warmup_limit_s=0.2, phase_limit_s=0.3, time_limit_s=60
)
_BASELINE = Candidate(runtime="fake", behaviour="ok", where="run")
_PATIENCE_S = 60.0


def fake_context(folder: Path) -> SearchContext:
    """A search of the fake backend's model in the run folder ``folder``, on a CPU and a pretended GPU."""
    split = Split(calibrate=(0, 1), select=(2, 3, 4, 5), confirm=(6, 7))
    return SearchContext(
        folder=folder,
        model=ModelFacts(
            path=folder / "model.fake",
            format="fake",
            sha256="0" * 64,
            files=("model.fake",),
            size_bytes=0,
            inputs=(TensorFacts(name="x", dtype="float32", shape=("N", 4)),),
            outputs=(TensorFacts(name="y", dtype="float32", shape=("N", 4)),),
            batch=BatchAxis(works=True, symbol="N"),
            dims={"N": 1},
        ),
        devices=(DeviceSpec(name="cpu", cpus=1), DeviceSpec(name="gpu", device_class="gpu")),
        workload=BUILT_IN["default"],
        objectives=(objective("latency_p50"), objective("throughput")),
        data=DataFacts(path=None, sha256="generated", count=8, labels=False, split=split),
        baseline=_BASELINE,
        reference=_BASELINE,
        build_parameters=("runtime", "behaviour", "where"),
        environment=Environment(cpu_model="", isa=(), cpus=1, memory_bytes=None, os="", python=""),
    )


def fake_trial(context: SearchContext, id: str, plan: Plan = QUICK, device: str = "cpu", **behaviour: Scalar) -> Trial:
    """A trial of the candidate with that ``behaviour`` and ``where``."""
    candidate = _BASELINE.with_(**behaviour)
    key = trial_key(context, candidate, device, plan, 0)
    return Trial(id=id, key=key, parent="t0000", candidate=candidate, device=device, plan=plan)


def processes_of(folder: Path) -> list[psutil.Process]:
    """Live processes of trials of the run folder ``folder``, and sessions that lost theirs."""
    found = []
    for process in psutil.process_iter():
        try:
            line = process.cmdline()
            if any(str(folder) in word for word in line) and "autotune_trials.run_trial" in line:
                found += [process, *process.children(recursive=True)]
            elif "autotune.measure.session_host" in line and process.ppid() == 1:
                found.append(process)
        except psutil.Error:
            continue
    return found


class ExecutorSuite:
    """Subclass it, and set ``factory`` to what the executor's entry point names."""

    factory: ExecutorFactory

    @pytest.fixture
    def context(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SearchContext:
        """A search in a new run folder, whose backend is found through PYTHONPATH."""
        install(tmp_path / "plugins")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "plugins"), prepend=os.pathsep)
        (tmp_path / "run").mkdir()
        return fake_context(tmp_path / "run")

    @contextmanager
    def executor(self, context: SearchContext) -> Iterator[Executor]:
        """An executor that is shut down afterwards."""
        executor = self.factory(context)
        try:
            yield executor
        finally:
            executor.shutdown()

    def only_record(self, context: SearchContext, trial: Trial) -> TrialRecord:
        """Run one trial to its end, and see that nothing of it is left."""
        with self.executor(context) as executor:
            executor.submit(trial)
            records = wait_for(executor, 1)
            assert executor.free_slots(trial.device) == 1
            assert_nothing_runs(context)
        assert [record.trial for record in records] == [trial]
        assert records[0].finished_s >= records[0].started_s
        return records[0]

    def failure(self, context: SearchContext, trial: Trial) -> Failure:
        """Run one trial that has to fail."""
        outcome = self.only_record(context, trial).outcome
        assert isinstance(outcome, Failure), outcome
        return outcome

    def test_a_trial_ends_as_a_measurement(self, context: SearchContext) -> None:
        record = self.only_record(context, fake_trial(context, "t0001"))
        assert isinstance(record.outcome, Measurement), record.outcome
        assert {"latency_p50", "throughput", "size", "fidelity", "load_time"} <= record.outcome.metrics.keys()
        assert record.outcome.samples is not None
        assert (context.folder / record.outcome.samples).is_file()
        assert record.cost.measure_s > 0
        assert record.environment == context.environment.sha256

    def test_a_record_lies_between_submitting_and_its_return(self, context: SearchContext) -> None:
        """What a trial is charged for is time that really passed: no clock is off by a part of a second."""
        with self.executor(context) as executor:
            executor.submit(fake_trial(context, "t0001"))  # whatever is started once is started now
            wait_for(executor, 1)
            before_s = time.time()
            executor.submit(fake_trial(context, "t0002", where="run"))
            (record,) = wait_for(executor, 1)
            assert before_s <= record.started_s <= record.finished_s <= time.time()

    def test_a_refused_build_is_a_failure_with_its_cause(self, context: SearchContext) -> None:
        failure = self.failure(context, fake_trial(context, "t0001", behaviour="refused"))
        assert (failure.stage, failure.cause) == ("build", "unsupported")

    def test_a_transformation_that_changed_nothing_is_the_same_as_its_parent(self, context: SearchContext) -> None:
        record = self.only_record(context, fake_trial(context, "t0001", behaviour="unchanged"))
        assert record.outcome == SameAs(trial="t0000", reason="there was nothing to change")

    @pytest.mark.parametrize(("where", "stage"), [("build", "build"), ("open", "open"), ("run", "check")])
    def test_a_crash_is_a_failure_at_its_stage(self, context: SearchContext, where: str, stage: str) -> None:
        failure = self.failure(context, fake_trial(context, "t0001", behaviour="crash", where=where))
        assert (failure.stage, failure.cause) == (stage, "crash")
        assert "SIGSEGV" in failure.message

    @pytest.mark.parametrize(("behaviour", "cause"), [("nan", "nan"), ("wrong", "wrong_output")])
    def test_wrong_output_fails_the_check(self, context: SearchContext, behaviour: str, cause: str) -> None:
        failure = self.failure(context, fake_trial(context, "t0001", behaviour=behaviour))
        assert (failure.stage, failure.cause) == ("check", cause)

    @pytest.mark.parametrize("where", ["build", "run"])
    def test_a_hang_is_ended_at_the_time_limit(self, context: SearchContext, where: str) -> None:
        plan = QUICK.model_copy(update={"time_limit_s": 4.0})
        failure = self.failure(context, fake_trial(context, "t0001", plan, behaviour="hang", where=where))
        assert (failure.stage, failure.cause) == ("timeout", "timeout")

    @pytest.mark.parametrize(("where", "stage"), [("build", "build"), ("open", "open")])
    def test_memory_beyond_the_limit_ends_the_trial(self, context: SearchContext, where: str, stage: str) -> None:
        plan = QUICK.model_copy(update={"memory_limit_bytes": 1024 * 2**20})
        failure = self.failure(context, fake_trial(context, "t0001", plan, behaviour="memory", where=where))
        assert (failure.stage, failure.cause) == (stage, "out_of_memory")

    def test_a_bug_in_a_backend_is_loud(self, context: SearchContext) -> None:
        with self.executor(context) as executor:
            executor.submit(fake_trial(context, "t0001", behaviour="bug", where="build"))
            with pytest.raises(RuntimeError, match="a bug, as asked"):
                wait_for(executor, 1)
            assert executor.free_slots("cpu") == 1

    def test_cancel_ends_running_trials_and_returns_them(self, context: SearchContext) -> None:
        trial = fake_trial(context, "t0001", behaviour="hang")
        with self.executor(context) as executor:
            executor.submit(trial)
            wait_until(lambda: len(processes_of(context.folder)) >= 2)
            assert executor.cancel() == [trial]
            assert_nothing_runs(context)
            assert executor.wait(0) == []
            assert executor.free_slots("cpu") == 1

    def test_a_cpu_trial_excludes_every_other(self, context: SearchContext) -> None:
        with self.executor(context) as executor:
            assert (executor.free_slots("cpu"), executor.free_slots("gpu")) == (1, 1)
            executor.submit(fake_trial(context, "t0001", device="gpu", behaviour="hang", where="build"))
            assert (executor.free_slots("cpu"), executor.free_slots("gpu")) == (0, 0)
            executor.cancel()
            executor.submit(fake_trial(context, "t0002", behaviour="hang", where="build"))
            assert (executor.free_slots("cpu"), executor.free_slots("gpu")) == (0, 0)

    def test_an_artifact_is_built_once(self, context: SearchContext) -> None:
        with self.executor(context) as executor:
            for name in ("t0001", "t0002"):
                executor.submit(fake_trial(context, name))
                (record,) = wait_for(executor, 1)
                assert isinstance(record.outcome, Measurement)
        assert record.measurement is not None
        assert record.measurement.metrics["build_time"].value is None
        artifacts = [
            Artifact.model_validate_json(file.read_bytes()) for file in (context.folder / "builds").glob("*.json")
        ]
        assert len(artifacts) == 1

    def test_shutdown_ends_what_runs_and_can_be_repeated(self, context: SearchContext) -> None:
        executor = self.factory(context)
        executor.submit(fake_trial(context, "t0001", behaviour="hang"))
        wait_until(lambda: bool(processes_of(context.folder)))
        executor.shutdown()
        assert_nothing_runs(context)
        executor.shutdown()


def wait_for(executor: Executor, count: int) -> list[TrialRecord]:
    """Wait for that many records."""
    records: list[TrialRecord] = []
    due = time.monotonic() + _PATIENCE_S
    while len(records) < count:
        assert time.monotonic() < due, f"{len(records)} of {count} trials ended"
        records += executor.wait(1.0)
    return records


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until the function ``holds`` returns something true."""
    due = time.monotonic() + _PATIENCE_S
    while not holds():
        assert time.monotonic() < due
        time.sleep(0.05)


def assert_nothing_runs(context: SearchContext) -> None:
    """No process of a trial, nor of its sessions, is left (the kernel may take a moment to end them)."""
    wait_until(lambda: not processes_of(context.folder))

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from autotune.core.artifact import Artifact
from autotune.core.assignment import SearchContext
from autotune.core.candidate import Candidate
from autotune.core.dataset import DataFacts, Split
from autotune.core.device import DeviceSpec
from autotune.core.environment import Environment
from autotune.core.errors import BuildError, UserError
from autotune.core.hashing import hash_files
from autotune.core.model import ModelFacts, TensorFacts
from autotune.core.objective import objective
from autotune.core.plan import Plan
from autotune.core.space import Parameter, SearchSpace
from autotune.core.trial import Measurement, Trial, TrialRecord
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN
from autotune.runs.arrays import read_tensors, write_tensors
from autotune.runs.folder import RunFolder, default_run_path
from autotune.runs.layout import RunLayout
from autotune.runs.search_file import SearchedModel, SearchFile
from autotune.runs.store import obtain

BASELINE = Candidate(runtime="fake")
ENVIRONMENT = Environment(cpu_model="x", isa=(), cpus=2, memory_bytes=None, os="linux", python="3.11")


def context(folder: Path) -> SearchContext:
    return SearchContext(
        folder=folder,
        model=ModelFacts(
            path=Path("/models/m.onnx"),
            format="onnx",
            sha256="0" * 64,
            files=("m.onnx",),
            size_bytes=10,
            inputs=(TensorFacts(name="x", dtype="float32", shape=(1, 4)),),
            outputs=(TensorFacts(name="y", dtype="float32", shape=(1, 4)),),
        ),
        devices=(DeviceSpec(name="cpu", cpus=2),),
        workload=BUILT_IN["default"],
        objectives=(objective("latency_p50"),),
        data=DataFacts(
            path=None,
            sha256="d",
            count=4,
            labels=False,
            split=Split(calibrate=(0,), select=(0,), confirm=(0,), whole=True),
        ),
        baseline=BASELINE,
        reference=BASELINE,
        build_parameters=("runtime",),
        environment=ENVIRONMENT,
    )


def search(folder: Path) -> SearchFile:
    shared = context(folder)
    return SearchFile(
        id="s1",
        created="2026-11-30T00:00:00Z",
        kind="real",
        model=SearchedModel(path=shared.model.path, sha256=shared.model.sha256, format="onnx", inputs=("x",)),
        space=SearchSpace(
            name="fake",
            parameters=(Parameter(name="runtime", choices=("fake",)),),
            baseline=BASELINE,
            reference=BASELINE,
        ),
        devices=shared.devices,
        workload=shared.workload,
        objectives=shared.objectives,
        data=shared.data,
        environment=ENVIRONMENT,
        context=shared,
    )


def record(id: str, started_s: float = 0.0, finished_s: float = 1.0) -> TrialRecord:
    return TrialRecord(
        trial=Trial(id=id, key=id, candidate=BASELINE, device="cpu", plan=Plan()),
        started_s=started_s,
        finished_s=finished_s,
        outcome=Measurement(metrics={"latency_p50": Value(value=0.001, unit="s")}),
    )


class FakeClock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now_s(self) -> float:
        return self.time

    def unix_s(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def run(tmp_path: Path, clock: FakeClock) -> RunFolder:
    return RunFolder.create(tmp_path / "run", search(tmp_path / "run"), clock)


def test_created_folder_is_read_back(run: RunFolder) -> None:
    again = RunFolder.open(run.path)
    assert again.search == run.search
    assert again.records() == []
    assert not again.torn
    assert again.front() is None


def test_records_come_back_in_order(run: RunFolder) -> None:
    for name in ("a", "b", "c"):
        run.append(record(name))
    assert [one.trial.id for one in RunFolder.open(run.path).records()] == ["a", "b", "c"]
    assert run.records() == RunFolder.open(run.path).records()


def test_records_another_process_appended_are_seen(run: RunFolder) -> None:
    reader = RunFolder.open(run.path)
    assert reader.records() == []
    run.append(record("a"))
    assert [one.trial.id for one in reader.records()] == ["a"]


def test_torn_last_line_is_dropped_and_said(run: RunFolder) -> None:
    run.append(record("a"))
    run.append(record("b"))
    whole = run.layout.journal.read_bytes()
    first = whole.index(b"\n") + 1
    second = whole.index(b"\n", first) + 1
    for cut in range(second + 1, len(whole)):
        run.layout.journal.write_bytes(whole[:cut])
        again = RunFolder.open(run.path)
        assert [one.trial.id for one in again.records()] == ["a"]
        assert again.torn


def test_journal_stays_valid_after_a_torn_line(run: RunFolder) -> None:
    run.append(record("a"))
    with run.layout.journal.open("ab") as stream:
        stream.write(b'{"schema": "autot')
    again = RunFolder.open(run.path)
    again.append(record("b"))
    assert [one.trial.id for one in RunFolder.open(run.path).records()] == ["a", "b"]
    assert all(json.loads(line) for line in run.layout.journal.read_text().splitlines())


def test_last_line_of_zeros_counts_as_torn_and_is_cut_by_the_lock(run: RunFolder) -> None:
    run.append(record("a"))
    sound = run.layout.journal.read_bytes()
    run.layout.journal.write_bytes(sound + b"\0" * 100 + b"\n")
    again = RunFolder.open(run.path)
    with again.lock():
        assert again.torn
        again.append(record("b"))
    assert [one.trial.id for one in RunFolder.open(run.path).records()] == ["a", "b"]


def test_corrupt_line_in_the_middle_names_file_and_line(run: RunFolder) -> None:
    run.append(record("a"))
    lines = run.layout.journal.read_text().splitlines()
    run.layout.journal.write_text("\n".join([lines[0], "{broken", lines[1]]) + "\n")
    with pytest.raises(UserError, match=r"journal\.jsonl, line 2,"):
        RunFolder.open(run.path).records()


def test_newer_schema_on_the_last_line_is_refused_not_dropped(run: RunFolder) -> None:
    run.append(record("a"))
    text = run.layout.journal.read_text()
    run.layout.journal.write_text(text + text.splitlines()[1].replace("journal/1", "journal/2") + "\n")
    with pytest.raises(UserError, match="journal/2"):
        RunFolder.open(run.path).records()


def test_a_second_search_in_the_same_folder_is_refused(run: RunFolder) -> None:
    before = sorted(run.path.iterdir())
    with pytest.raises(UserError, match="already holds a search") as caught:
        RunFolder.create(run.path, run.search)
    assert "--resume" in caught.value.remedy
    assert sorted(run.path.iterdir()) == before


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"not empty: it holds notes\.txt"):
        RunFolder.create(tmp_path, search(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_an_empty_folder_and_a_killed_creation_are_used(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / ".search.json.x1").touch()
    assert RunFolder.create(tmp_path, search(tmp_path)).records() == []


def test_a_path_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        RunFolder.create(tmp_path / "file" / "run", search(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_failed_creation_takes_back_what_it_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("autotune.runs.folder.write_atomic", full)
    with pytest.raises(UserError, match="No space left"):
        RunFolder.create(tmp_path / "a" / "b", search(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "{", '{"schema": "autotune/search/9"}'])
def test_an_unreadable_search_names_the_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "search.json").write_text(content)
    with pytest.raises(UserError, match=r"search\.json cannot be read"):
        RunFolder.open(tmp_path)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not the folder of a search"):
        RunFolder.open(tmp_path / "missing")


def test_second_driver_is_refused_with_the_first_ones_pid(run: RunFolder) -> None:
    with run.lock(), pytest.raises(UserError, match=f"process {os.getpid()}"), RunFolder.open(run.path).lock():
        pass
    with run.lock():
        pass


def test_kill_9_releases_the_lock(run: RunFolder) -> None:
    code = (
        "import sys, time; from pathlib import Path; from autotune.runs.folder import RunFolder\n"
        "with RunFolder.open(Path(sys.argv[1])).lock():\n print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, run.path], stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == "held\n"
        with pytest.raises(UserError, match=f"process {driver.pid}"), run.lock():
            pass
        driver.kill()
    with run.lock():
        pass


def test_down_time_is_not_charged(run: RunFolder, clock: FakeClock) -> None:
    with run.lock():
        clock.sleep(10)
        run.log_time(10)
    clock.sleep(3600)
    again = RunFolder.open(run.path, clock)
    with again.lock():
        clock.sleep(5)
        again.log_time(5)
    assert again.spent_s() == pytest.approx(15)


def test_kill_between_heartbeats_charges_the_journalled_trials(run: RunFolder, clock: FakeClock) -> None:
    with run.lock():
        clock.sleep(10)
        run.log_time(10)
        run.append(record("a", started_s=1005, finished_s=1015))
        run.append(record("b", started_s=1012, finished_s=1018))
    clock.sleep(3600)
    again = RunFolder.open(run.path, clock)
    assert again.spent_s() == pytest.approx(18)
    with again.lock():
        again.log_time(2)
    assert again.spent_s() == pytest.approx(20)


def test_default_paths_are_unique(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    now = datetime(2026, 11, 30, 1, 2, 3)
    first = default_run_path("digits", now)
    assert first == Path("autotune-runs/digits-20261130-010203")
    first.mkdir(parents=True)
    assert default_run_path("digits", now) == Path("autotune-runs/digits-20261130-010203-2")


class Builder:
    def __init__(self, content: str = "weights") -> None:
        self.count = 0
        self.content = content

    def __call__(self, folder: Path) -> Artifact:
        self.count += 1
        (folder / "m.onnx").write_text(self.content)
        return Artifact(
            backend="fake",
            folder=folder,
            model="m.onnx",
            files=("m.onnx",),
            size_bytes=7,
            candidate=BASELINE,
            sha256=hash_files([folder / "m.onnx"], folder),
        )


def test_a_build_is_made_once_and_carries_each_candidate(tmp_path: Path) -> None:
    layout, builder = RunLayout(folder=tmp_path), Builder()
    first, built = obtain(layout, "k", BASELINE, builder)
    other = BASELINE.with_(threads=2)
    second, again = obtain(layout, "k", other, builder)
    assert (built, again, builder.count) == (True, False, 1)
    assert second == first.model_copy(update={"candidate": other})
    assert (first.folder / "m.onnx").read_text() == "weights"
    assert first.folder == layout.artifact(first.sha256)


def test_two_builds_of_the_same_content_share_one_artifact(tmp_path: Path) -> None:
    layout = RunLayout(folder=tmp_path)
    first, _ = obtain(layout, "k1", BASELINE, Builder())
    second, _ = obtain(layout, "k2", BASELINE, Builder())
    assert first == second
    assert len(list((tmp_path / "artifacts").iterdir())) == 1


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    def build(folder: Path) -> Artifact:
        (folder / "half").write_text("x")
        raise BuildError("other", "no")

    with pytest.raises(BuildError):
        obtain(RunLayout(folder=tmp_path), "k", BASELINE, build)
    assert list((tmp_path / "artifacts").iterdir()) == []
    assert not (tmp_path / "builds" / "k.json").exists()


def test_a_removed_artifact_is_built_again(tmp_path: Path) -> None:
    layout, builder = RunLayout(folder=tmp_path), Builder()
    artifact, _ = obtain(layout, "k", BASELINE, builder)
    (artifact.folder / "m.onnx").unlink()
    artifact.folder.rmdir()
    _, built = obtain(layout, "k", BASELINE, builder)
    assert built
    assert (artifact.folder / "m.onnx").is_file()


@pytest.mark.parametrize("damage", ["cut", "weighed"])
def test_a_damaged_artifact_is_built_again(tmp_path: Path, damage: str) -> None:
    layout, builder = RunLayout(folder=tmp_path), Builder()
    artifact, _ = obtain(layout, "k", BASELINE, builder)
    (artifact.folder / "m.onnx").write_text(damage)
    mended, built = obtain(layout, "k", BASELINE, builder, checked=True)
    assert built
    assert (mended.folder / "m.onnx").read_text() == "weights"


def test_the_driver_sweeps_up_half_made_builds(run: RunFolder) -> None:
    (run.layout.artifacts / ".building-x1").mkdir(parents=True)
    run.layout.work("t1").parent.mkdir()
    run.layout.work("t1").write_text("{}")
    with run.lock():
        assert not run.layout.work("t1").exists()
        assert list(run.layout.artifacts.iterdir()) == []


def test_a_moved_run_folder_finds_its_artifacts(tmp_path: Path) -> None:
    builder = Builder()
    obtain(RunLayout(folder=tmp_path / "here"), "k", BASELINE, builder)
    (tmp_path / "here").rename(tmp_path / "there")
    artifact, built = obtain(RunLayout(folder=tmp_path / "there"), "k", BASELINE, builder)
    assert not built
    assert artifact.folder.is_relative_to(tmp_path / "there")


def test_a_moved_run_folder_goes_on_where_it_is(run: RunFolder) -> None:
    moved = run.path.rename(run.path.with_name("moved"))
    assert RunFolder.open(moved).search.context.folder == moved


def test_tensors_of_any_name_and_type_come_back(tmp_path: Path) -> None:
    tensors = [
        {"file": np.arange(row + 2, dtype=np.int64), "a/b:0": np.asarray(["x", "yz"], dtype=object)} for row in range(2)
    ]
    write_tensors(tmp_path / "t.npz", tensors)
    for expected, found in zip(tensors, read_tensors(tmp_path / "t.npz"), strict=True):
        assert list(expected) == list(found)
        for name, array in expected.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array)

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError
from autotune.core.hashing import hash_files
from autotune.core.trial import TrialRecord
from autotune.runs.arrays import read_tensors, write_tensors
from autotune.runs.folder import RunFolder
from autotune.runs.layout import RunLayout
from autotune.runs.store import obtain

Record = Callable[..., TrialRecord]


BASELINE = Candidate(runtime="fake")


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
    (run.path / ".exports-x1").mkdir()
    run.layout.work("t1").parent.mkdir()
    run.layout.work("t1").write_text("{}")
    with run.lock():
        assert not run.layout.work("t1").exists()
        assert list(run.layout.artifacts.iterdir()) == []
        assert not (run.path / ".exports-x1").exists()


def test_a_moved_run_folder_finds_its_artifacts(tmp_path: Path) -> None:
    builder = Builder()
    obtain(RunLayout(folder=tmp_path / "here"), "k", BASELINE, builder)
    (tmp_path / "here").rename(tmp_path / "there")
    artifact, built = obtain(RunLayout(folder=tmp_path / "there"), "k", BASELINE, builder)
    assert not built
    assert artifact.folder.is_relative_to(tmp_path / "there")


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

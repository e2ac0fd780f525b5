from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from autotune.core.deployment import ExportedConfig
from autotune.core.errors import UserError
from autotune.export import OriginalFiles, ReplaySamples, write_export
from autotune.export import write as write_module
from autotune.replay.folder import read_exported


def entries(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_folder_holds_the_contracts_files(
    tmp_path: Path, config: ExportedConfig, artifact: Path, samples: ReplaySamples
) -> None:
    original = OriginalFiles(artifact, "model.onnx", ("model.onnx",))
    write_export(tmp_path / "out", config, artifact, ["model.onnx"], samples=samples, original=original)
    assert entries(tmp_path / "out") == [
        "README.md",
        "batcher.py",
        "config.json",
        "endpoint.py",
        "model.onnx",
        "original/model.onnx",
        "run.py",
        "samples.npz",
        "workload.yaml",
    ]
    written = json.loads((tmp_path / "out" / "config.json").read_text())
    assert written["schema"] == "autotune/config/1"
    assert written["files"] == ["model.onnx"]
    assert written["original"]["model"] == "original/model.onnx"
    workload = yaml.safe_load((tmp_path / "out" / "workload.yaml").read_text())
    assert workload == {"name": "default", "phases": [{"scenario": "single_stream"}, {"scenario": "offline"}]}


def test_no_absolute_path_is_written(
    tmp_path: Path, config: ExportedConfig, artifact: Path, samples: ReplaySamples
) -> None:
    write_export(tmp_path / "out", config, artifact, ["model.onnx"], samples=samples)
    for file in (tmp_path / "out").iterdir():
        assert str(tmp_path).encode() not in file.read_bytes(), file


def test_config_is_read_back_as_it_was_written(tmp_path: Path, config: ExportedConfig, artifact: Path) -> None:
    written = write_export(tmp_path / "out", config, artifact, ["model.onnx"])
    assert read_exported(tmp_path / "out") == written


def test_earlier_export_is_replaced_whole(
    tmp_path: Path, config: ExportedConfig, artifact: Path, samples: ReplaySamples
) -> None:
    write_export(tmp_path / "out", config, artifact, ["model.onnx"], samples=samples)
    write_export(tmp_path / "out", config, artifact, ["model.onnx"])
    assert "samples.npz" not in entries(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []


def test_empty_folder_is_used(tmp_path: Path, config: ExportedConfig, artifact: Path) -> None:
    (tmp_path / "out").mkdir()
    write_export(tmp_path / "out", config, artifact, ["model.onnx"])
    assert (tmp_path / "out" / "run.py").is_file()


def test_foreign_folder_is_left_alone(tmp_path: Path, config: ExportedConfig, artifact: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(UserError, match="is no exported folder"):
        write_export(tmp_path / "out", config, artifact, ["model.onnx"])
    assert entries(tmp_path / "out") == ["thesis.txt"]


def test_file_that_someone_put_beside_an_export_is_not_deleted(
    tmp_path: Path, config: ExportedConfig, artifact: Path
) -> None:
    write_export(tmp_path / "out", config, artifact, ["model.onnx"])
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"notes\.txt"):
        write_export(tmp_path / "out", config, artifact, ["model.onnx"])


def test_failure_half_way_leaves_nothing(tmp_path: Path, config: ExportedConfig, artifact: Path) -> None:
    with pytest.raises(UserError, match="cannot write"):
        write_export(tmp_path / "out", config, artifact, ["model.onnx", "missing.bin"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["artifact"]


def test_parent_that_is_a_file_is_a_users_mistake(tmp_path: Path, config: ExportedConfig, artifact: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write"):
        write_export(tmp_path / "file" / "out", config, artifact, ["model.onnx"])


def test_large_original_is_left_out(
    tmp_path: Path, config: ExportedConfig, artifact: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_module, "MAX_ORIGINAL_BYTES", 3)
    written = write_export(
        tmp_path / "out",
        config,
        artifact,
        ["model.onnx"],
        original=OriginalFiles(artifact, "model.onnx", ("model.onnx",)),
    )
    assert written.original is not None
    assert written.original.model is None
    assert "--original" in (tmp_path / "out" / "README.md").read_text()


def test_custom_operators_library_goes_along(tmp_path: Path, config: ExportedConfig, artifact: Path) -> None:
    library = tmp_path / "libops.so"
    library.write_bytes(b"")
    written = write_export(tmp_path / "out", config, artifact, ["model.onnx"], custom_op_library=library)
    assert written.session.custom_op_library == "libops.so"
    assert written.original is not None
    assert written.original.session.custom_op_library == "libops.so"
    assert (tmp_path / "out" / "libops.so").is_file()


@pytest.mark.parametrize("earlier", [False, True])
def test_the_current_folder_is_filled_and_stays_the_same_folder(
    tmp_path: Path, config: ExportedConfig, artifact: Path, monkeypatch: pytest.MonkeyPatch, earlier: bool
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    if earlier:
        original = OriginalFiles(artifact, "model.onnx", ("model.onnx",))
        write_export(here, config, artifact, ["model.onnx"], original=original)
    monkeypatch.chdir(here)
    before = here.stat().st_ino
    write_export(Path(), config, artifact, ["model.onnx"])
    assert here.stat().st_ino == before
    assert entries(here) == [
        "README.md",
        "batcher.py",
        "config.json",
        "endpoint.py",
        "model.onnx",
        "run.py",
        "workload.yaml",
    ]
    assert read_exported(here).model == "model.onnx"
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_missing_file_makes_a_folder_damaged(tmp_path: Path, config: ExportedConfig, artifact: Path) -> None:
    write_export(tmp_path / "out", config, artifact, ["model.onnx"])
    (tmp_path / "out" / "model.onnx").unlink()
    with pytest.raises(UserError, match=r"model\.onnx is missing"):
        read_exported(tmp_path / "out")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": "autotune/config/2"}', "\xff"])
def test_unreadable_config_is_a_users_mistake(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text, encoding="latin-1")
    with pytest.raises(UserError, match="cannot be read"):
        read_exported(tmp_path)


def test_readme_states_provenance_and_intervals(tmp_path: Path, config: ExportedConfig, artifact: Path) -> None:
    write_export(tmp_path / "out", config, artifact, ["model.onnx"])
    text = (tmp_path / "out" / "README.md").read_text()
    assert "latency p50" in text
    assert "measured" in text
    assert "autotune verify" in text


def test_a_folder_whose_files_lie_outside_of_it_or_that_nothing_opens_is_refused(
    config: ExportedConfig, artifact: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / config.model).write_bytes(b"")
    foreign = config.session.model_copy(update={"runtime": "mine"})
    for change, told in (
        ({"model": "/etc/hosts"}, "outside"),
        ({"files": ("../artifact/model.onnx",)}, "outside"),
        ({"session": foreign}, "'mine'"),
    ):
        odd = config.model_copy(update=change)
        (folder / "config.json").write_text(odd.model_copy(update={"original": None}).to_json())
        with pytest.raises(UserError, match=told):
            read_exported(folder)

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autotune import plugins
from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.hashing import hash_files
from autotune.core.model import ModelFacts
from autotune.runs.building import obtain_built
from autotune.runs.layout import RunLayout
from autotune.runs.search_file import SearchFile


class Backend:
    """Writes what it was asked for after what it started from."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, object]]] = []

    def build(self, model: ModelFacts, candidate: Candidate, device: object, folder: Path, *_: object) -> Artifact:
        self.asked.append((model.path.name, dict(candidate)))
        step = "trained" if candidate.get("recovery_s") else str(candidate["precision"])
        (folder / "m.onnx").write_text(f"{model.path.read_text()} {step}")
        return Artifact(
            backend="fake",
            folder=folder,
            model="m.onnx",
            files=("m.onnx",),
            size_bytes=(folder / "m.onnx").stat().st_size,
            candidate=candidate,
            sha256=hash_files([folder / "m.onnx"], folder),
            changed={step: {}},
        )


def test_a_model_is_trained_once_and_every_other_form_starts_from_it(
    tmp_path: Path, searched: Callable[[Path], SearchFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = Backend()
    monkeypatch.setattr(plugins, "backend", lambda _name: backend)
    original = tmp_path / "original.onnx"
    original.write_text("weights")
    baseline = Candidate(runtime="fake", precision="fp32", pruning_ratio=0.0)
    context = searched(tmp_path).context
    context = context.model_copy(
        update={
            "model": context.model.model_copy(update={"path": original, "files": ("original.onnx",)}),
            "baseline": baseline,
            "build_parameters": ("runtime", "precision", "pruning_ratio", "recovery_s"),
        }
    )
    layout, device = RunLayout(folder=tmp_path), context.devices[0].name
    trained = {"pruning_ratio": 0.5, "recovery_s": 300.0}

    def built(precision: str) -> Artifact:
        return obtain_built(layout, context, baseline.with_(precision=precision, **trained), device, lambda: ())[0]

    int8, int4, float32 = built("int8"), built("int4"), built("fp32")
    assert [asked["recovery_s"] for _, asked in backend.asked] == [300.0, 0.0, 0.0]
    assert (int8.folder / int8.model).read_text() == "weights trained int8"
    assert (float32.folder / float32.model).read_text() == "weights trained"
    assert int8.changed.keys() == {"trained", "int8"}
    assert int4.candidate["recovery_s"] == 300.0

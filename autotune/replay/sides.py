"""The two models that a verification opens: the exported one, and the original where it is at hand."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.deployment import ExportedConfig, SessionSettings
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.hashing import hash_files
from autotune.core.ports import Session
from autotune.replay.ort_session import OPENER

__all__ = ["Sides", "artifact_at", "open_side", "openable", "sides"]

_ANSWER_S = 600.0  # no trial's process bounds these sessions: a run that never returns would hold its command for ever


@dataclass(frozen=True)
class Sides:
    """Artifacts that ``open_side`` opens. ``original`` None: it is not at hand, and ``original_model`` is then None too, or its
    runtime is not installed.
    """

    exported: Artifact
    original: Artifact | None
    original_model: Path | None
    device: DeviceSpec


@contextmanager
def sides(folder: Path, config: ExportedConfig, original: Path | None) -> Iterator[Sides]:
    """Yield both artifacts. ``original`` is a model file that the user gave, None: the one in the folder, if it has one.

    Raises ``UserError`` when the file given is not the model that the export was made from.
    """
    model = _original_model(folder, config, original)
    with tempfile.TemporaryDirectory(prefix="autotune-verify-") as scratch:
        artifact = None
        if model is not None and config.original is not None and find_spec(config.original.session.runtime):
            file = model if original is None else openable(model, Path(scratch))
            artifact = artifact_at(Path(scratch), file, _absolute(config.original.session, folder))
        yield Sides(_exported_artifact(folder, config), artifact, model, config.device)


def openable(model: Path, scratch: Path) -> Path:
    """A user's model as a session may open it: an exported program is copied to ``scratch`` without what could run.

    Raises ``UserError``.
    """
    if model.suffix != ".pt2":
        return model
    from autotune.models.pt2_plain import write_plain

    write_plain(model, scratch / "program.pt2")
    return scratch / "program.pt2"


def open_side(artifact: Artifact, device: DeviceSpec) -> Session:
    """A session in a process of its own; enter it. Raises ``OpenError`` then."""
    from autotune.measure.session_process import SessionProcess

    return SessionProcess(OPENER, artifact, device, _ANSWER_S)


def _original_model(folder: Path, config: ExportedConfig, given: Path | None) -> Path | None:
    if given is None:
        beside = config.original.model if config.original is not None else None
        return (folder / beside).resolve() if beside else None
    from autotune.models import read_model

    if read_model(given).sha256 != config.source.model_sha256:
        raise UserError(f"{given} is not the model that {folder} was made from", "give the model that was searched")
    return given.resolve()


def _exported_artifact(folder: Path, config: ExportedConfig) -> Artifact:
    files = config.files or (config.model,)
    paths = [folder / file for file in files]
    return Artifact(
        backend=config.runtime,
        folder=folder.resolve(),
        model=config.model,
        files=files,
        sha256=hash_files(paths, folder),
        size_bytes=sum(path.stat().st_size for path in paths),
        candidate=config.candidate,
    )


def artifact_at(
    scratch: Path, model: Path, session: SessionSettings, candidate: Candidate | None = None, files: Sequence[Path] = ()
) -> Artifact:
    """A model file where it lies, as an artifact that ``open_side`` opens: ``scratch`` gets a ``config.json`` that names it.

    ``files`` are all of the model's, as absolute paths; empty: the one file.
    """
    settings = {"model": str(model), "session": session.model_dump(mode="json")}
    (scratch / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    paths = tuple(files) or (model,)
    return Artifact(
        backend="onnxruntime",
        folder=scratch,
        model=str(model),
        files=tuple(str(path) for path in paths),
        sha256=hash_files(paths, model.parent),
        size_bytes=sum(path.stat().st_size for path in paths),
        candidate=candidate or Candidate(),
    )


def _absolute(session: SessionSettings, folder: Path) -> SessionSettings:
    library = session.custom_op_library
    return (
        session
        if library is None
        else session.model_copy(update={"custom_op_library": str(folder.resolve() / library)})
    )

"""A candidate's files: the model as it is, and what OpenVINO is told to compute it in."""

from __future__ import annotations

import json
from pathlib import Path

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError
from autotune.core.hashing import hash_files
from autotune.core.model import ModelFacts
from autotune_backends.openvino.settings import session_settings
from autotune_backends.transform.onnx.copying import copy_model

__all__ = ["PRECISION_FILE", "build"]

PRECISION_FILE = "precision.json"
"""Part of the artifact, since results depend on it as on weights: quality is kept by the artifact's hash."""

_HINT = "INFERENCE_PRECISION_HINT"


def build(model: ModelFacts, candidate: Candidate, folder: Path) -> Artifact:
    """Copy the model into ``folder``. OpenVINO reads ONNX as it is. Raises ``BuildError``."""
    name = model.path.name
    precision = session_settings(candidate, 1).options[_HINT]
    try:
        copy_model(model.path, model.files[1:], folder / name)
        (folder / PRECISION_FILE).write_text(json.dumps({_HINT: precision}) + "\n")
    except OSError as error:
        raise BuildError("disk", f"the model could not be copied: {error}") from error
    files = (name, *model.files[1:], PRECISION_FILE)
    paths = [folder / file for file in files]
    return Artifact(
        backend="openvino",
        folder=folder,
        model=name,
        files=files,
        sha256=hash_files(paths, folder),
        size_bytes=sum(path.stat().st_size for path in paths),
        candidate=candidate,
    )

"""Builds a candidate's files: the model as it is, or transformed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError
from autotune.core.hashing import hash_files
from autotune.core.model import ModelFacts
from autotune_backends.onnxruntime.failures import cause_of, message_of
from autotune_backends.transform.onnx.change import Change, Transformation
from autotune_backends.transform.onnx.copying import copy_model
from autotune_backends.transform.onnx.int8_dynamic import Int8Dynamic
from autotune_backends.transform.onnx.repair import Repair

__all__ = ["MODEL_NAME", "build"]

MODEL_NAME = "model.onnx"


def build(model: ModelFacts, candidate: Candidate, folder: Path, custom_op_library: Path | None) -> Artifact:
    """Write the candidate's files into ``folder`` and describe them. Raises ``BuildError``."""
    target = folder / _model_name(model)
    transformation = transformation_of(candidate, custom_op_library)
    with _tool_failures("the model could not be " + ("transformed" if transformation else "copied")):
        changes = [transformation(model.path, target)] if transformation else []
        if not changes or changes[0].unchanged:
            changes.append(_as_it_is(model, target))
        else:
            _check(target, model.path)
    return _artifact(candidate, folder, target.name, changes, custom_op_library)


def transformation_of(candidate: Candidate, custom_op_library: Path | None) -> Transformation | None:
    """What the candidate asks to be done to the model; None: nothing."""
    if candidate.get("precision") != "int8_dynamic":
        return None
    return Int8Dynamic(
        per_channel=candidate.get("int8_per_channel") is True,
        matmul_only=candidate.get("int8_operators") == "matmul",
        reduce_range=candidate.get("int8_reduce_range") is True,
        library=custom_op_library,
    )


def _as_it_is(model: ModelFacts, target: Path) -> Change:
    """Copy the model; node names that onnxruntime refuses are repaired on the copy."""
    repair = Repair()(model.path, target)
    if repair.unchanged:
        copy_model(model.path, model.files[1:], target)
    return repair


def _artifact(
    candidate: Candidate, folder: Path, name: str, changes: list[Change], custom_op_library: Path | None
) -> Artifact:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return Artifact(
        backend="onnxruntime",
        folder=folder,
        model=name,
        files=tuple(file.relative_to(folder).as_posix() for file in files),
        sha256=hash_files(files, folder),
        size_bytes=sum(file.stat().st_size for file in files),
        candidate=candidate,
        changed={change.name: change.facts for change in changes if change.facts and not change.unchanged},
        unchanged=next((change.unchanged for change in changes if change.name != "repair"), None),
        custom_op_library=custom_op_library,
    )


def _model_name(model: ModelFacts) -> str:
    """``model.onnx``, so that equal content has an equal hash; its own name where a weight file is called that."""
    return model.path.name if MODEL_NAME in model.files[1:] else MODEL_NAME


def _check(built: Path, original: Path) -> None:
    """Have onnx check the result by path: weights stay on disk. That it also loads is seen when it is opened.

    Some models that onnxruntime runs never passed the checker; of those nothing is expected here.
    """
    from onnx.checker import ValidationError, check_model

    try:
        check_model(str(built))
    except ValidationError:
        if _passes(original):
            raise


def _passes(path: Path) -> bool:
    from onnx.checker import ValidationError, check_model

    try:
        check_model(str(path))
    except ValidationError:
        return False
    return True


@contextmanager
def _tool_failures(what: str) -> Iterator[None]:
    try:
        yield
    except (
        Exception
    ) as error:  # quantisers raise AssertionError, ValueError, KeyError, … : all are this build's failure
        raise BuildError(cause_of(error), f"{what}: {message_of(error)}") from error

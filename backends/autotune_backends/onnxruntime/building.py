"""Builds a candidate's files: the model as it is, or transformed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.errors import BuildError, UserError
from autotune.core.hashing import hash_files
from autotune.core.model import ModelFacts
from autotune.host.memory import memory_limit
from autotune_backends.onnxruntime.devices import channel_block
from autotune_backends.onnxruntime.failures import cause_of, message_of
from autotune_backends.onnxruntime.steps import Calibration, carry_out, steps_of
from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.copying import copy_model
from autotune_backends.transform.onnx.footprint import refuse_beyond_memory
from autotune_backends.transform.onnx.graph import interface, load_graph, same_kind
from autotune_backends.transform.onnx.quantisable import float_weight_dtype
from autotune_backends.transform.onnx.repair import Repair

__all__ = ["MODEL_NAME", "build"]

MODEL_NAME = "model.onnx"


def build(
    model: ModelFacts,
    candidate: Candidate,
    folder: Path,
    calibration: Calibration,
    custom_op_library: Path | None,
    device: DeviceSpec,
) -> Artifact:
    """Write the candidate's files for ``device`` into ``folder`` and describe them. Raises ``BuildError``."""
    target = folder / _model_name(model)
    with _tool_failures("the model could not be built"):
        steps = (
            ()
            if _asks_for_its_own(candidate, model)
            else steps_of(candidate, model.path, calibration, custom_op_library, channel_block(device))
        )
        refuse_beyond_memory(steps, model.size_bytes, memory_limit().bytes)
        changes = carry_out(steps, model.path, target)
        if target.exists():
            _check(target, model.path)
        else:
            changes.append(_as_it_is(model, target))
    return _artifact(candidate, folder, target.name, changes, custom_op_library)


def _asks_for_its_own(candidate: Candidate, model: ModelFacts) -> bool:
    """Whether ``fp16`` is what the model's weights are already."""
    return candidate.get("precision") == "fp16" and float_weight_dtype(load_graph(model.path)) == "float16"


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
        changed=_told(changes),
        unchanged=_why_the_same(changes),
        custom_op_library=custom_op_library,
    )


def _told(changes: list[Change]) -> dict[str, Any]:
    """What each step changed; of one that changed nothing beside others that did, why."""
    done = {change.name: change.facts for change in changes if change.facts and not change.unchanged}
    if _why_the_same(changes):
        return done
    idle = {change.name: {"unchanged": change.unchanged} for change in changes if change.unchanged}
    return done | {name: facts for name, facts in idle.items() if name != "repair"}


def _why_the_same(changes: list[Change]) -> str | None:
    """Why nothing of what was asked for changed the model; None: something did, or nothing was asked for."""
    asked = [change.unchanged for change in changes if change.name != "repair"]
    return "; ".join(reason for reason in asked if reason) if asked and all(asked) else None


def _model_name(model: ModelFacts) -> str:
    """``model.onnx``, so that equal content has an equal hash; its own name where a weight file is called that."""
    return model.path.name if MODEL_NAME in model.files[1:] else MODEL_NAME


def _check(built: Path, original: Path) -> None:
    """Have onnx check the result by path: weights stay on disk. That it also loads is seen when it is opened.

    Some models that onnxruntime runs never passed the checker; of those nothing is expected here. Raises ``ValueError``
    when a tool changed what goes in or out.
    """
    from onnx.checker import ValidationError, check_model

    before, after = (interface(load_graph(path)) for path in (original, built))
    if changed := [name for name in before | after if not same_kind(before.get(name), after.get(name))]:
        raise ValueError(f"the tool changed the model's inputs or outputs: {', '.join(changed)}")
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
    except (UserError, BuildError):  # the calibration data have gone; the memory does not suffice
        raise
    except (
        Exception
    ) as error:  # quantisers raise AssertionError, ValueError, KeyError, … : all are this build's failure
        raise BuildError(cause_of(error), f"{what}: {message_of(error)}") from error

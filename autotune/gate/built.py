"""A model file as the head: built with the baseline's candidate, or taken as it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from autotune import plugins
from autotune.core.artifact import Artifact
from autotune.core.deployment import ExportedConfig, SessionSettings
from autotune.core.errors import BuildError
from autotune.core.model import ModelFacts
from autotune.gate.calibration import Calibration
from autotune.gate.sides import Side, SideFailure, scratch_folder
from autotune.replay.facts import symbols_of
from autotune.replay.sides import artifact_at, openable

__all__ = ["head_facts", "model_side"]

_PLAIN = SessionSettings(providers=("CPUExecutionProvider",))


@contextmanager
def model_side(
    model: Path, facts: ModelFacts, config: ExportedConfig, baseline: Path, data: str | None, *, as_is: bool = False
) -> Iterator[Side]:
    """Yield ``model`` (whose ``facts`` are ``head_facts``) as a side. Both are opened under the baseline's session settings.

    Built with the baseline's candidate, calibrated on ``data`` (see ``Calibration``), and held against its own unoptimised
    self; with ``as_is`` the file itself, held against what the baseline is held against. ``baseline`` is the folder, for its
    custom operators and samples.
    Raises ``UserError`` when the data cannot be read, ``SideFailure`` when it cannot be built.
    """
    session = _settings(config.session, baseline)
    with ExitStack() as stack:
        target = stack.enter_context(scratch_folder("head"))
        if as_is:
            file = openable(facts.path.resolve(), target)
            paths = [file.parent / name for name in (file.name, *facts.files[1:])]
            yield Side(
                who="head",
                text=str(model),
                artifact=artifact_at(target, file, session, config.candidate, paths),
                batch=config.promise.batch,
                original_sha256=config.source.model_sha256,
                batching=config.batching,
            )
            return
        beside = stack.enter_context(scratch_folder("head"))
        calibration = Calibration(facts, config, baseline, data)
        built = _build(facts, config, stack.enter_context(scratch_folder("head")), calibration)
        plain = _settings(config.original.session if config.original is not None else _PLAIN, baseline)
        yield Side(
            who="head",
            text=str(model),
            artifact=_opened_as(built, target, session),
            batch=config.promise.batch,
            original_sha256=facts.sha256,
            batching=config.batching,
            reference=artifact_at(beside, openable(facts.path.resolve(), beside), plain),
            notes=(*((f"{model}: {built.unchanged}",) if built.unchanged else ()), *calibration.notes),
        )


def head_facts(model: Path, data: str | None, config: ExportedConfig, baseline: Path) -> ModelFacts:
    """The model's facts, at the sizes of symbolic dimensions that the baseline was measured at, or that the data have.

    Raises ``UserError`` when the model or the data cannot be read.
    """
    from autotune.data import sizes_in
    from autotune.models import read_model

    library = _library(config.session, baseline)
    facts = read_model(model, None, library)
    sizes = {name: size for name, size in config.promise.dims.items() if name in symbols_of(facts)}
    sizes |= sizes_in(data, facts)
    return read_model(model, sizes, library) if sizes else facts


def _build(facts: ModelFacts, config: ExportedConfig, folder: Path, calibration: Calibration) -> Artifact:
    backend = plugins.backend(str(config.candidate.get("runtime", config.runtime)))
    library = facts.custom_op_library
    try:
        return backend.build(facts, config.candidate, config.device, folder, calibration.inputs, library)
    except BuildError as error:
        raise SideFailure("head", error) from error


def _opened_as(built: Artifact, target: Path, session: SessionSettings) -> Artifact:
    """The built artifact, opened by the same opener as the baseline: nothing but the files differs between the sides."""
    paths = [(built.folder / file).resolve() for file in built.files]
    opened = artifact_at(target, (built.folder / built.model).resolve(), session, built.candidate, paths)
    return opened.model_copy(update={"sha256": built.sha256, "size_bytes": built.size_bytes})


def _settings(session: SessionSettings, baseline: Path) -> SessionSettings:
    library = _library(session, baseline)
    return session if library is None else session.model_copy(update={"custom_op_library": str(library)})


def _library(session: SessionSettings, baseline: Path) -> Path | None:
    return None if session.custom_op_library is None else (baseline / session.custom_op_library).resolve()

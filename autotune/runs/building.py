"""Builds a candidate of a search, or finds it built: for a trial and for an export alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from autotune import plugins
from autotune.core.artifact import Artifact
from autotune.core.assignment import SearchContext
from autotune.core.candidate import Candidate
from autotune.core.keys import build_key
from autotune.core.model import ModelFacts
from autotune.core.recovery import PRUNING, RECOVERY
from autotune.core.samples import Tensors
from autotune.runs.layout import RunLayout
from autotune.runs.store import obtain

__all__ = ["obtain_built"]


def obtain_built(
    layout: RunLayout,
    context: SearchContext,
    candidate: Candidate,
    device: str,
    calibration: Callable[[], Iterable[Tensors]],
    *,
    checked: bool = False,
) -> tuple[Artifact, bool]:
    """Return the candidate's artifact for ``device``, and whether it was built now; ``checked`` as for ``obtain``.

    ``calibration`` yields inputs of batch 1 anew each time. Raises ``BuildError``, and ``UserError`` when the candidate's
    backend is not installed.
    """

    def build(folder: Path) -> Artifact:
        start, rest = _started(layout, context, candidate, device, calibration)
        model = context.model if start is None else _as_model(context.model, start)
        built = plugins.backend(str(candidate["runtime"])).build(
            model, rest, context.device(device), folder, calibration, context.custom_op_library
        )
        return built if start is None else built.model_copy(update={"changed": {**start.changed, **built.changed}})

    return obtain(layout, build_key(context, candidate, device), candidate, build, checked=checked)


def _started(
    layout: RunLayout,
    context: SearchContext,
    candidate: Candidate,
    device: str,
    calibration: Callable[[], Iterable[Tensors]],
) -> tuple[Artifact | None, Candidate]:
    """What the build starts from (None: the model itself), and what is left to do: training takes minutes, and is done once.

    So a model that was pruned and trained again is an artifact of its own, from which its quantised forms are built.
    """
    trained = {name: candidate[name] for name in (PRUNING, RECOVERY) if name in candidate}
    if not trained.get(RECOVERY):
        return None, candidate
    alone = context.baseline.with_(**trained)
    if build_key(context, alone, device) == build_key(context, candidate, device):
        return None, candidate
    start, _ = obtain_built(layout, context, alone, device, calibration)
    return start, candidate.with_(**dict.fromkeys(trained, 0.0))


def _as_model(model: ModelFacts, start: Artifact) -> ModelFacts:
    """The facts of ``model``, with the artifact's files."""
    others = tuple(file for file in start.files if file != start.model)
    return model.model_copy(update={"path": start.folder / start.model, "files": (start.model, *others)})

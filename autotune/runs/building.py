"""Builds a candidate of a search, or finds it built: for a trial and for an export alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from autotune import plugins
from autotune.core.artifact import Artifact
from autotune.core.assignment import SearchContext
from autotune.core.candidate import Candidate
from autotune.core.keys import build_key
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
        return plugins.backend(str(candidate["runtime"])).build(
            context.model, candidate, context.device(device), folder, calibration, context.custom_op_library
        )

    return obtain(layout, build_key(context, candidate, device), candidate, build, checked=checked)

"""The artifact store: each build is made once, and its files are addressed by their content."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.hashing import hash_files
from autotune.runs.atomic import place_folder, write_atomic
from autotune.runs.layout import RunLayout
from autotune.runs.lock import exclusive

__all__ = ["EXPORTING", "obtain", "sweep"]

_BUILDING = ".building-"

EXPORTING = ".exports-"
"""How the folder begins that points are exported into on their way to a tracker."""


def obtain(
    layout: RunLayout, key: str, candidate: Candidate, build: Callable[[Path], Artifact], *, checked: bool = False
) -> tuple[Artifact, bool]:
    """Return the artifact of the build ``key``, and whether it was built now.

    ``build`` is given an empty folder and may raise whatever it wants: nothing is kept then. Of several processes that
    want the same build, one builds and the others wait. The artifact's candidate is ``candidate``: builds are shared
    between candidates that differ only in how they are loaded or run. ``checked``: the stored files are hashed, and built
    again when they are not what was built; otherwise their sizes are looked at.
    """
    index = layout.build(key)
    with exclusive(index.with_suffix(".lock")):
        known = _read(layout, index)
        if checked and known is not None and not _sound(known):
            shutil.rmtree(known.folder)
            known = None
        artifact = known or _build(layout, index, build)
    return artifact.model_copy(update={"candidate": candidate}), known is None


def sweep(layout: RunLayout) -> None:
    """Remove what a killed search left half-made: builds, exports, assignments. Only the run's driver may, at its start."""
    shutil.rmtree(layout.work("").parent, ignore_errors=True)
    for folder in (*layout.artifacts.glob(f"{_BUILDING}*"), *layout.folder.glob(f"{EXPORTING}*")):
        shutil.rmtree(folder, ignore_errors=True)


def _read(layout: RunLayout, index: Path) -> Artifact | None:
    try:
        artifact = Artifact.model_validate_json(index.read_bytes())
    except (OSError, ValidationError):
        return None
    folder = layout.folder / artifact.folder
    return artifact.model_copy(update={"folder": folder}) if _whole(folder, artifact) else None


def _whole(folder: Path, artifact: Artifact) -> bool:
    files = [folder / file for file in artifact.files]
    return all(file.is_file() for file in files) and sum(file.stat().st_size for file in files) == artifact.size_bytes


def _sound(artifact: Artifact) -> bool:
    return hash_files([artifact.folder / file for file in artifact.files], artifact.folder) == artifact.sha256


def _build(layout: RunLayout, index: Path, build: Callable[[Path], Artifact]) -> Artifact:
    layout.artifacts.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=_BUILDING, dir=layout.artifacts))
    try:
        artifact = build(temporary)
        final = layout.artifact(artifact.sha256)
        if final.is_dir() and not _whole(final, artifact):
            shutil.rmtree(final)
        place_folder(temporary, final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    relative = artifact.model_copy(update={"folder": final.relative_to(layout.folder)})
    write_atomic(index, relative.model_dump_json(indent=1).encode())
    return artifact.model_copy(update={"folder": final})

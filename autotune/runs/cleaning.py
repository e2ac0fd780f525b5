"""Removes from a run folder what its finished search no longer needs."""

from __future__ import annotations

import shutil
from pathlib import Path

from autotune.core.trial import TrialRecord
from autotune.runs.folder import RunFolder

__all__ = ["clean_run"]

_DERIVED = ("reference", "logs", "work")


def clean_run(run: RunFolder, *, keep_front: bool = True) -> int:
    """Remove artifacts (but those of front points and the baseline, unless ``keep_front`` is False) and derived files.

    The journal, the samples and the front stay. Returns the bytes freed.
    """
    kept = _front_artifacts(run) if keep_front else set()
    doomed = [folder for folder in run.layout.artifacts.glob("*") if folder.name not in kept]
    doomed += [run.path / name for name in _DERIVED]
    freed = sum(_size_bytes(folder) for folder in doomed)
    for folder in doomed:
        shutil.rmtree(folder, ignore_errors=True)
    return freed


def _front_artifacts(run: RunFolder) -> set[str]:
    front = run.front()
    points = (*front.points, front.baseline) if front else ()
    return {point.artifact for point in points if point.artifact} | _baseline_artifacts(run.records())


def _baseline_artifacts(records: list[TrialRecord]) -> set[str]:
    return {
        record.measurement.artifact
        for record in records
        if record.trial.purpose == "baseline" and record.measurement and record.measurement.artifact
    }


def _size_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())

"""Twins: candidates whose artifacts are the same byte for byte, and are loaded and run the same way. One is measured."""

from __future__ import annotations

import json
from pathlib import Path

from autotune.core.artifact import Artifact
from autotune.core.hashing import hash_json
from autotune.core.trial import SameAs
from autotune.runs.atomic import write_atomic
from autotune_trials.bench import Bench

__all__ = ["keep_for_twins", "twin_of"]


def twin_of(bench: Bench, artifact: Artifact) -> SameAs | None:
    """The trial that measured the very same thing already; None: there is none, or this one is to be measured in any case.

    The baseline, repeats and the front are measured whatever was measured before.
    """
    trial = bench.trial
    if trial.purpose != "search" or trial.repeat > 0 or bench.paired:
        return None
    try:
        known = json.loads(_file(bench, artifact).read_bytes())
        if known["trial"] == trial.id or not _journalled(bench, known["key"]):
            return None
    except (OSError, ValueError, KeyError):
        return None
    return SameAs(trial=known["trial"], reason="its artifact is the same byte for byte, and so is how it is run")


def keep_for_twins(bench: Bench, artifact: Artifact) -> None:
    """Note that this trial was measured."""
    file = _file(bench, artifact)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, json.dumps({"trial": bench.trial.id, "key": bench.trial.key}).encode())


def _file(bench: Bench, artifact: Artifact) -> Path:
    shaping = bench.context.build_parameters
    running = {name: value for name, value in bench.trial.candidate.items() if name not in shaping}
    return bench.layout.measured(hash_json([artifact.backend, artifact.sha256, bench.device.name, running]))


def _journalled(bench: Bench, key: str) -> bool:
    """Whether the trial of that key is in the journal as measured: a driver that was killed may have lost it."""
    with bench.layout.journal.open(encoding="utf-8") as lines:
        return any(key in line and '"measurement"' in line for line in lines)

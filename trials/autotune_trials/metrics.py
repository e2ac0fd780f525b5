"""Metrics that are known before anything is timed."""

from __future__ import annotations

from autotune.core.artifact import Artifact
from autotune.core.ports import Session
from autotune.core.values import Value
from autotune_trials.bench import Built

__all__ = ["known_metrics", "size_ratio"]


def known_metrics(built: Built, session: Session) -> dict[str, Value]:
    """Size, load time and build time; a time that was not taken is unknown."""
    load_time_s: float | None = getattr(session, "load_time_s", None)
    return {
        "size": Value(value=built.artifact.size_bytes, unit="bytes", basis="the artifact's files"),
        "load_time": _seconds(load_time_s, "once, files in the page cache"),
        "build_time": _seconds(built.build_s, "once" if built.build_s is not None else "another trial built it"),
    }


def size_ratio(artifact: Artifact, baseline: Artifact) -> Value:
    """The artifact's size / the baseline's; unknown when that is empty. Exact, so without an interval."""
    ratio = artifact.size_bytes / baseline.size_bytes if baseline.size_bytes else None
    return Value(value=ratio, unit="1", basis="the artifacts' files")


def _seconds(seconds: float | None, basis: str) -> Value:
    return Value(value=seconds, unit="s", n=None if seconds is None else 1, basis=basis)

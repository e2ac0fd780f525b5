"""A run that a person picked in a tracker."""

from __future__ import annotations

from autotune.core.frozen import Record

__all__ = ["PickedRun"]


class PickedRun(Record):
    """``run_id`` is the tracker's own; ``experiment`` is the group of runs it lies in, as the tracker names it."""

    run_id: str
    search: str
    point: str
    experiment: str

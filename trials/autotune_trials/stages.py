"""Which stage a trial is at, told to its executor through a small file, and how long each took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

from autotune.core.errors import Stage
from autotune.core.trial import Cost

__all__ = ["Stages", "stage_file", "stage_of"]


def stage_file(work: Path) -> Path:
    """Where a trial with the assignment file ``work`` tells its stage."""
    return work.with_suffix(".stage")


def stage_of(work: Path) -> Stage | None:
    """The stage that a trial was last seen at; None before its first."""
    try:
        text = stage_file(work).read_text()
    except OSError:
        return None
    return next((stage for stage in get_args(Stage) if stage == text), None)


class Stages:
    """The stages of one trial. Stages do not nest. Times are wall time in seconds."""

    def __init__(self, work: Path, started_s: float) -> None:
        self._file = stage_file(work)
        self._started_s = started_s
        self._spent_s: dict[Stage, float] = {}
        self.current: Stage = "build"

    @contextmanager
    def at(self, stage: Stage) -> Iterator[None]:
        """Everything inside belongs to ``stage``, errors too."""
        self.current = stage
        self._file.write_text(stage)
        began = time.perf_counter()
        try:
            yield
        finally:
            self._spent_s[stage] = self.spent_s(stage) + time.perf_counter() - began

    def now_s(self) -> float:
        """A monotonic time in seconds."""
        return time.perf_counter()

    def spent_s(self, stage: Stage) -> float:
        """Seconds spent at a stage so far."""
        return self._spent_s.get(stage, 0.0)

    def cost(self, now_s: float) -> Cost:
        """Split the time from the start to ``now_s`` (both Unix): opening and starting processes are among the other."""
        build, check, measure = (self.spent_s(stage) for stage in ("build", "check", "measure"))
        rest = now_s - self._started_s - build - check - measure
        return Cost(build_s=build, check_s=check, measure_s=measure, other_s=max(rest, 0.0))

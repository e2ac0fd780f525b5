"""The front of a search, as ``front.json`` holds it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from autotune.core.candidate import Candidate
from autotune.core.device import Kind
from autotune.core.environment import Environment
from autotune.core.frozen import FileRecord, Record
from autotune.core.objective import Objective
from autotune.core.values import Value
from autotune.core.workload import Workload

__all__ = ["BASELINE_ID", "Dropped", "Front", "Miss", "Point"]

BASELINE_ID = "baseline"


class Point(Record):
    """A point a person may pick.

    ``id`` is the trial that found it (the baseline's is ``baseline``); ``trial`` is the one whose numbers are shown.
    ``ratios`` are this point / baseline, paired. ``artifact`` None: nothing was built (simulated).
    """

    id: str
    trial: str
    device: str
    candidate: Candidate
    metrics: dict[str, Value]
    ratios: dict[str, Value] = Field(default_factory=dict)
    artifact: str | None = None


class Dropped(Record):
    """A point that looked like the front's and is not shown, and why."""

    id: str
    reason: str


class Miss(Record):
    """A point that broke ``limit``, and by how much, in the metric's SI unit."""

    id: str
    limit: str
    by: float


class Front(FileRecord):
    """The points no other feasible point beats on every objective, the baseline, and what nearly made it.

    ``tried`` counts the candidates that ended, the baseline not among them; None: not told.
    """

    schema_: str = Field(default="autotune/front/1", alias="schema")
    search: str
    kind: Kind
    quality: Literal["accuracy", "fidelity"]
    objectives: tuple[Objective, ...]
    limits: tuple[str, ...]
    workload: Workload
    environment: Environment
    baseline: Point
    points: tuple[Point, ...]
    knee: str | None = None
    dropped: tuple[Dropped, ...] = ()
    misses: tuple[Miss, ...] = ()
    tried: int | None = None

    def point(self, id: str) -> Point | None:
        """The point of that id, the baseline included; None when there is none."""
        return next((point for point in (*self.points, self.baseline) if point.id == id), None)

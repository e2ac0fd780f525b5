"""``promise.json``: what a folder that configures a server says of itself. Nothing of it was measured."""

from __future__ import annotations

from pydantic import Field

from autotune.core.candidate import Candidate
from autotune.core.frozen import FileRecord
from autotune.core.simulation import Simulation
from autotune.core.values import Value
from autotune.core.workload import Workload

__all__ = ["PROMISE", "ServingPromise"]

PROMISE = "promise.json"


class ServingPromise(FileRecord):
    """``source`` names the search, its point and the model's SHA-256. ``objectives`` are the search's.

    ``simulation`` None: an older folder, which does not say how its numbers were computed, so that they cannot be again.
    """

    schema_: str = Field(default="autotune/promise/1", alias="schema")
    format: str
    model: str = ""
    source: dict[str, str]
    device: str
    devices_per_replica: int
    replicas: int
    candidate: Candidate
    workload: Workload
    metrics: dict[str, Value]
    objectives: tuple[str, ...] = ()
    simulation: Simulation | None = None

"""A workload: under which load a candidate is measured."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from autotune.core.frozen import Frozen

__all__ = ["BUILT_IN", "Phase", "Scenario", "Shape", "Workload"]

Scenario = Literal["single_stream", "multi_stream", "offline", "server"]


class Shape(Frozen):
    """Sizes of symbolic dimensions, and how often they occur relative to the workload's other shapes."""

    dims: dict[str, int]
    weight: float = 1.0

    @property
    def label(self) -> str:
        """How people and results call it: ``"seq=128"``."""
        return " ".join(f"{name}={size}" for name, size in self.dims.items())


class Phase(Frozen):
    """One kind of load. ``single_stream``: one request of batch 1 after another. ``offline``: whole batches, back to back.

    ``server``: requests arrive at ``rate_per_s`` as in a Poisson process, or as in a trace (``arrivals_s``, ascending seconds; at
    its own rate where none is given), and meet the candidate's batch policy. ``multi_stream``: ``streams`` closed loops at once.

    ``streams`` (multi_stream), ``rate_per_s``, ``arrivals_s`` and ``limits`` (server) and ``duration_s`` are None or empty where
    unused. ``limits`` are what a rate must hold to count for ``max_rate``, besides the search's own. ``priorities`` are the
    shares of requests of each level, the most urgent first; empty: all are alike. ``queue_limit``: with so many waiting, further
    requests are dropped; None: none are.
    """

    scenario: Scenario
    streams: int | None = None
    rate_per_s: float | None = None
    duration_s: float | None = None
    limits: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()
    arrivals_s: tuple[float, ...] = Field(default=(), exclude_if=lambda arrivals: not arrivals)
    priorities: tuple[float, ...] = Field(default=(), exclude_if=lambda shares: not shares)
    queue_limit: int | None = Field(default=None, exclude_if=lambda limit: limit is None)


class Workload(Frozen):
    """Phases are measured in order; each gives metrics of its own."""

    name: str
    phases: tuple[Phase, ...]

    def has(self, scenario: Scenario) -> bool:
        """Whether a phase is of that scenario."""
        return any(phase.scenario == scenario for phase in self.phases)


BUILT_IN: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        Workload(name="default", phases=(Phase(scenario="single_stream"), Phase(scenario="offline"))),
        Workload(name="latency", phases=(Phase(scenario="single_stream"),)),
        Workload(name="throughput", phases=(Phase(scenario="offline"),)),
        Workload(name="server", phases=(Phase(scenario="server", rate_per_s=100.0),)),
    )
}

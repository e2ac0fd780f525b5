"""A workload: under which load a candidate is measured."""

from __future__ import annotations

from typing import Literal

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

    ``streams`` (multi_stream), ``rate_per_s`` and ``limits`` (server) and ``duration_s`` are None or empty where unused.
    """

    scenario: Scenario
    streams: int | None = None
    rate_per_s: float | None = None
    duration_s: float | None = None
    limits: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()


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
    )
}

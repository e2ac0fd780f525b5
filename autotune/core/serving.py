"""A load that a session is put under, and how its requests fared. Plain dataclasses: they live beside timing loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autotune.core.deployment import Batching

__all__ = ["ClosedLoop", "GiveUp", "Load", "OpenLoop", "Served", "StoppedLoad"]

StoppedLoad = Literal["over", "saturated"]


@dataclass(frozen=True)
class GiveUp:
    """When a load is ended early, because its outcome is known.

    As soon as ``most_over`` + 1 requests took longer than ``bound_s`` (None: never), or a request has waited for
    ``longest_wait_s``: the queue only grows then.
    """

    longest_wait_s: float
    bound_s: float | None = None
    most_over: int = 0


@dataclass(frozen=True)
class OpenLoop:
    """Requests arrive when they are scheduled, whatever became of those before.

    ``arrivals_s``: seconds after the start, ascending, shape ``[requests]``. ``priorities``: each request's level, 0 the most
    urgent, None: all alike. ``queue_limit``: requests beyond so many waiting are dropped, None: none are.
    """

    arrivals_s: NDArray[np.float64]
    policy: Batching
    give_up: GiveUp
    priorities: NDArray[np.int64] | None = None
    queue_limit: int | None = None


@dataclass(frozen=True)
class ClosedLoop:
    """``streams`` clients at once for ``duration_s``, each sending its next request when the one before was answered.

    ``policy`` None: each calls the session itself, without a batcher.
    """

    streams: int
    duration_s: float
    policy: Batching | None = None


Load: TypeAlias = OpenLoop | ClosedLoop


@dataclass(frozen=True)
class Served:
    """How a load's requests fared, in the order of their arrivals; shapes ``[requests]``.

    ``latency_s``: from the scheduled arrival to the answer; infinite for a dropped request. Of the ``unanswered`` ones, that
    had no answer when the load was ended early, it is how long they had waited by then: at least so much.
    ``lag_s``: by how much the generator sent each one late, which its latency includes.
    ``batch_rows``: the rows of each batch that was run. ``busy_s``: seconds that instances worked, all together, of
    ``wall_s`` × ``instances``. ``dropped`` counts requests that the queue refused. ``stopped`` None: the load ran to its end.
    ``cpu_s`` and ``memory_bytes`` (None: unknown) as in ``core.samples.Samples``.
    """

    arrivals_s: NDArray[np.float64]
    latency_s: NDArray[np.float64]
    lag_s: NDArray[np.float64]
    batch_rows: NDArray[np.int64]
    busy_s: float
    wall_s: float
    instances: int = 1
    dropped: int = 0
    unanswered: int = 0
    stopped: StoppedLoad | None = None
    cpu_s: float | None = None
    memory_bytes: int | None = None
    counters: Mapping[str, float] = field(default_factory=dict)

    @property
    def utilisation(self) -> float:
        """The share of the time that instances worked, 0 to 1."""
        return min(1.0, self.busy_s / (self.wall_s * self.instances)) if self.wall_s > 0 else 0.0

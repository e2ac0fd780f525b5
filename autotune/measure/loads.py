"""What is measured, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.deployment import Batching
from autotune.core.limits import Limit
from autotune.core.ports import Session
from autotune.core.samples import Requests
from autotune.core.trial import Stopped
from autotune.core.values import Value
from autotune.core.workload import Phase

__all__ = ["Against", "Measured", "PhaseLoad"]


@dataclass(frozen=True)
class PhaseLoad:
    """A phase of the workload and the requests that make it.

    Under load: ``batching`` is the policy that requests meet, None: they run one by one. ``limits`` are what a rate must hold to
    count; ``seek_rate``: look for the highest such rate.
    """

    phase: Phase
    requests: Requests
    batching: Batching | None = None
    limits: tuple[Limit, ...] = ()
    seek_rate: bool = False

    @property
    def name(self) -> str:
        """The scenario: what arrays and notes call this phase."""
        return self.phase.scenario


@dataclass(frozen=True)
class Against:
    """The other side of a paired measurement: its session, and its requests for the same phases in the same order."""

    session: Session
    loads: tuple[PhaseLoad, ...]


@dataclass(frozen=True)
class Measured:
    """What ``measure`` found. ``arrays`` are the raw samples, by ``<scenario>_<what>`` (``against_…`` for the other side).

    ``ratios`` are this session / the other, empty when there is none; ``otherwise`` are those of the phases by the statistic of
    a round that ``ratios`` does not use (see ``round_statistic``), to be held against ratios of that kind; ``series`` are
    ``ratios`` pair by pair, where a metric has them; ``theirs`` are the other side's metrics. ``steady`` False: some phase never
    became steady.
    ``disturbed_rounds`` counts rounds that were taken again, or could not be. ``busy`` True: in some phase most of the rounds
    that count were disturbed; others had the machine, and may be what made the difference. ``longer`` are the metrics of phases
    in which a request of this side, a batch maybe, lasts more than twice as long as one of the other's.
    ``stopped`` None: measuring was not cut short.
    """

    metrics: Mapping[str, Value]
    ratios: Mapping[str, Value] = field(default_factory=dict)
    otherwise: Mapping[str, Value] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    steady: bool = True
    disturbed_rounds: int = 0
    busy: bool = False
    longer: tuple[str, ...] = ()
    stopped: Stopped | None = None
    notes: tuple[str, ...] = ()
    series: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    theirs: Mapping[str, Value] = field(default_factory=dict)

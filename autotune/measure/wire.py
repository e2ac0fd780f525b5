"""What a session's process and its owner say to each other: plain dataclasses, pickled with protocol 5."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autotune.core.artifact import Artifact
from autotune.core.device import DeviceSpec
from autotune.core.errors import Cause
from autotune.core.samples import Requests, Tensors
from autotune.core.serving import Load

__all__ = ["Answered", "Keep", "Open", "Opened", "Outputs", "Problem", "Round", "Run", "Serve", "receive", "send"]


@dataclass(frozen=True)
class Open:
    """The first message. ``opener`` is ``module:function``."""

    opener: str
    artifact: Artifact
    device: DeviceSpec


@dataclass(frozen=True)
class Opened:
    """The opener took ``load_time_s``."""

    load_time_s: float


@dataclass(frozen=True)
class Keep:
    """Requests for later rounds. No answer."""

    requests: Requests


@dataclass(frozen=True)
class Outputs:
    """Run once on these inputs; answered by ``Answered``."""

    inputs: Tensors


@dataclass(frozen=True)
class Answered:
    """Every output by name."""

    outputs: Tensors


@dataclass(frozen=True)
class Run:
    """Time ``count`` of the kept requests of that key; answered by ``Round``."""

    key: str
    count: int


@dataclass(frozen=True)
class Round:
    """A round's raw results; see ``core.samples.Samples``."""

    latency_s: NDArray[np.float64]
    cpu_s: float
    memory_bytes: int | None
    energy_j: float | None = None
    counters: Mapping[str, float] = field(default_factory=dict)
    first: int = 0


@dataclass(frozen=True)
class Serve:
    """Put the session under a load of the kept requests of that key; answered by ``core.serving.Served``."""

    key: str
    load: Load


@dataclass(frozen=True)
class Problem:
    """The request failed: cause and the runtime's own words."""

    cause: Cause
    message: str


Message: TypeAlias = Any


def send(connection: Connection, message: Message) -> None:
    """Send one message. Raises ``OSError`` when the other side is gone."""
    connection.send_bytes(pickle.dumps(message, protocol=5))


def receive(connection: Connection) -> Message:
    """Wait for one message. Raises ``EOFError`` or ``OSError`` at once when the other side is gone."""
    return pickle.loads(connection.recv_bytes())

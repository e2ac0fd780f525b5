"""The fake backend's session, inside its process: y = 2x, unless its artifact says otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from autotune.core.artifact import Artifact
from autotune.core.device import DeviceSpec
from autotune.core.samples import Tensors
from autotune.testing.fake_backend import misbehave

__all__ = ["FakeSession", "open_session"]


@dataclass(frozen=True)
class FakeSession:
    """Implements ``LocalSession``."""

    behaviour: str

    def outputs(self, inputs: Tensors) -> Tensors:
        """Double ``x``; not a number, or something else, on request."""
        misbehave(self.behaviour)
        doubled = np.asarray(inputs["x"], dtype=np.float32) * np.float32(2)
        if self.behaviour == "nan":
            doubled = doubled * np.float32("nan")
        return {"y": -doubled if self.behaviour == "wrong" else doubled}

    def bind(self, inputs: Tensors) -> Callable[[], object]:
        """Return the call that a round times."""
        return lambda: self.outputs(inputs)


def open_session(artifact: Artifact, device: DeviceSpec) -> FakeSession:  # noqa: ARG001 - every opener is given the device
    """Read the artifact."""
    told = json.loads((artifact.folder / artifact.model).read_text())
    if told["where"] == "open":
        misbehave(told["behaviour"])
    return FakeSession(told["behaviour"] if told["where"] == "run" else "ok")

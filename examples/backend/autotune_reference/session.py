"""What runs inside the session's process: the only place where the runtime is imported."""

from __future__ import annotations

import gc
from collections.abc import Callable

from onnx.reference import ReferenceEvaluator

from autotune.core.artifact import Artifact
from autotune.core.device import DeviceSpec
from autotune.core.errors import OpenError
from autotune.core.samples import Tensors
from autotune_reference.backend import COLLECT


class ReferenceSession:
    """Implements ``autotune.measure.session_host.LocalSession``."""

    def __init__(self, evaluator: ReferenceEvaluator) -> None:
        self._evaluator = evaluator

    def outputs(self, inputs: Tensors) -> Tensors:
        """Every output by name."""
        found = self._evaluator.run(None, dict(inputs))
        return dict(zip(self._evaluator.output_names, found, strict=True))

    def bind(self, inputs: Tensors) -> Callable[[], object]:
        """What is timed: one inference, with nothing left to prepare."""
        run, feed = self._evaluator.run, dict(inputs)
        return lambda: run(None, feed)


def open_session(artifact: Artifact, device: DeviceSpec) -> ReferenceSession:  # noqa: ARG001 - there is one device
    """Called in the session's process."""
    if not artifact.candidate.get(COLLECT, True):
        gc.disable()
    try:
        return ReferenceSession(ReferenceEvaluator(str(artifact.folder / artifact.model)))
    except Exception as error:  # onnx's exceptions share no base class
        raise OpenError("unsupported", str(error) or type(error).__name__) from error

"""What runs inside the session's process: the only place where the runtime is imported."""

from __future__ import annotations

from collections.abc import Callable

from onnx.reference import ReferenceEvaluator

from autotune.core.artifact import Artifact
from autotune.core.device import DeviceSpec
from autotune.core.errors import OpenError
from autotune.core.samples import Tensors


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


def open_session(artifact: Artifact, device: DeviceSpec) -> ReferenceSession:
    """Called in the session's process."""
    optimized = bool(artifact.candidate.get("optimized", True))
    try:
        return ReferenceSession(ReferenceEvaluator(str(artifact.folder / artifact.model), optimized=optimized))
    except Exception as error:  # onnx's exceptions share no base class
        raise OpenError("unsupported", str(error) or type(error).__name__) from error

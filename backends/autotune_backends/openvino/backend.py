"""The backend that the hub finds by its entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.deployment import SessionSettings
from autotune.core.device import DeviceSpec
from autotune.core.model import ModelFacts, whatever
from autotune.core.package import Package
from autotune.core.samples import Tensors
from autotune.core.space import Offer
from autotune_backends.cpu import installed
from autotune_backends.probed import ProbedBackend

if TYPE_CHECKING:
    from autotune_backends.probing import Probe

__all__ = ["OpenVinoBackend"]


class OpenVinoBackend(ProbedBackend):
    """ONNX models on the CPU, through OpenVINO.

    Implements ``core.ports.Backend``. The package openvino is optional: without it, every model is refused, saying so.
    """

    name = "openvino"
    opener = "autotune_backends.openvino.session:open_session"
    package = Package("openvino", "pip install 'autotune-inference[openvino]'")

    def versions(self) -> Mapping[str, str]:
        """OpenVINO's; empty without it."""
        found = installed("openvino")
        return {"openvino": found} if found else {}

    def refusal(self, model: ModelFacts, device: DeviceSpec) -> str | None:
        """Why OpenVINO does not run the model there; None: only a try can tell."""
        from autotune_backends.openvino.offers import refusal

        return refusal(model, device, self.missing())

    def probe(self, model: ModelFacts, device: DeviceSpec) -> Probe:
        """Open the model and run it once."""
        from autotune_backends.openvino.probe import probe

        return probe(model, device, self.opener)

    def offer(self, model: ModelFacts, device: DeviceSpec, found: Probe) -> Offer:  # noqa: ARG002 - all models get the same
        """What is legal for a model that runs."""
        from autotune_backends.openvino.offers import offer

        return offer(device, found.batch)

    def widest(self, model_format: str, device: DeviceSpec) -> Offer | None:
        """All that is offered for an ONNX model whose batch may grow."""
        from autotune_backends.openvino.offers import offer

        return offer(device, whatever(model_format).batch) if model_format == "onnx" else None

    def build(
        self,
        model: ModelFacts,
        candidate: Candidate,
        device: DeviceSpec,  # noqa: ARG002 - the files do not depend on it
        folder: Path,
        calibration: Callable[[], Iterable[Tensors]],  # noqa: ARG002 - nothing here is calibrated
        custom_op_library: Path | None = None,  # noqa: ARG002 - refused by ``offers``
    ) -> Artifact:
        """Write the candidate's files into the empty ``folder``. Raises ``BuildError``."""
        from autotune_backends.openvino.building import build

        return build(model, candidate, folder)

    def settings(self, candidate: Candidate, cpus: int) -> SessionSettings:
        """OpenVINO's properties."""
        from autotune_backends.openvino.settings import session_settings

        return session_settings(candidate, cpus)

"""The backend that the hub finds by its entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.deployment import SessionSettings
from autotune.core.device import DeviceSpec
from autotune.core.model import ModelFacts
from autotune.core.samples import Tensors
from autotune.core.space import Offer
from autotune_backends.cpu import CpuBackend, installed

if TYPE_CHECKING:
    from autotune_backends.probing import Probe

__all__ = ["OpenVinoBackend"]


class OpenVinoBackend(CpuBackend):
    """ONNX models on the CPU, through OpenVINO.

    Implements ``core.ports.Backend``. The package openvino is optional: without it, every model is refused, saying so.
    """

    name = "openvino"
    opener = "autotune_backends.openvino.session:open_session"

    def __init__(self) -> None:
        self._probed: dict[tuple[str, str], Probe] = {}

    def versions(self) -> Mapping[str, str]:
        """OpenVINO's; empty without it."""
        found = installed("openvino")
        return {"openvino": found} if found else {}

    def offers(self, model: ModelFacts, device: DeviceSpec) -> Offer:
        """Try the model (once), then offer what is legal."""
        from autotune_backends.openvino.offers import offer, refusal

        why = refusal(model, device, installed("openvino") is not None)
        if why is None:
            found = self._probe(model, device)
            if found.refusal is None:
                return offer(device, found.batch)
            why = found.refusal
        return Offer(backend=self.name, device=device.name, refusal=why)

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

    def _probe(self, model: ModelFacts, device: DeviceSpec) -> Probe:
        from autotune_backends.openvino.probe import probe

        key = (model.sha256, device.name)
        if key not in self._probed:
            self._probed[key] = probe(model, device, self.opener)
        return self._probed[key]

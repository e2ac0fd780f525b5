"""The backend that the hub finds by its entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.deployment import Deployment
from autotune.core.device import DeviceSpec
from autotune.core.model import ModelFacts
from autotune.core.ports import Session
from autotune.core.samples import Tensors
from autotune.core.space import Offer

if TYPE_CHECKING:
    from autotune_backends.openvino.probe import Probe

__all__ = ["OPENER", "OpenVinoBackend"]

OPENER = "autotune_backends.openvino.session:open_session"
"""What a session's process calls."""


class OpenVinoBackend:
    """Implements ``core.ports.Backend``. The package openvino is optional: without it, every model is refused, saying so."""

    name = "openvino"

    def __init__(self) -> None:
        self._probed: dict[tuple[str, str], Probe] = {}

    def versions(self) -> Mapping[str, str]:
        """OpenVINO's; empty without it."""
        found = _installed()
        return {"openvino": found} if found else {}

    def devices(self) -> Sequence[DeviceSpec]:
        """The CPU, the very one that onnxruntime's backend sees."""
        return [self._cpu]

    def offers(self, model: ModelFacts, device: DeviceSpec) -> Offer:
        """Try the model (once), then offer what is legal."""
        from autotune_backends.openvino.offers import offer, refusal

        why = refusal(model, device, _installed() is not None)
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

    def open(self, artifact: Artifact, device: DeviceSpec) -> Session:
        """Return the session; entering it starts its process. Raises ``OpenError`` there."""
        from autotune.measure.session_process import SessionProcess

        return SessionProcess(OPENER, artifact, device)

    def deployment(self, artifact: Artifact, candidate: Candidate) -> Deployment:
        """Describe the artifact as data, for export."""
        from autotune_backends.openvino.settings import session_settings

        return Deployment(
            runtime=self.name,
            model=artifact.model,
            files=artifact.files,
            session=session_settings(candidate, self._cpu.cpus or 1),
            batch=int(candidate.get("batch_size", 1)),
        )

    @cached_property
    def _cpu(self) -> DeviceSpec:
        from autotune_backends.onnxruntime.devices import cpu_device

        return cpu_device()

    def _probe(self, model: ModelFacts, device: DeviceSpec) -> Probe:
        from autotune_backends.openvino.probe import probe

        key = (model.sha256, device.name)
        if key not in self._probed:
            self._probed[key] = probe(model, device, OPENER)
        return self._probed[key]


def _installed() -> str | None:
    try:
        return version("openvino")
    except PackageNotFoundError:
        return None

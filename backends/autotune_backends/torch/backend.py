"""The backend that the hub finds by its entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.deployment import Deployment, SessionSettings
from autotune.core.device import DeviceSpec
from autotune.core.model import ModelFacts
from autotune.core.package import Package
from autotune.core.samples import Tensors
from autotune.core.space import Offer
from autotune_backends.cpu import installed
from autotune_backends.probed import ProbedBackend

if TYPE_CHECKING:
    from autotune_backends.probing import Probe

__all__ = ["TorchBackend"]

_DISTRIBUTIONS = ("torch", "onnxscript", "onnxruntime")


class TorchBackend(ProbedBackend):
    """Exported PyTorch programs on the CPU, through PyTorch.

    Implements ``core.ports.Backend``. The package torch is optional: without it, every program is refused, saying so.
    """

    name = "torch"
    opener = "autotune_backends.torch.session:open_session"
    package = Package("torch", "pip install 'autotune-inference[torch]'")

    def versions(self) -> Mapping[str, str]:
        """Versions of the packages that artifacts and numbers depend on; empty without torch."""
        found = {name: version for name in _DISTRIBUTIONS if (version := installed(name))}
        return found if "torch" in found else {}

    def refusal(self, model: ModelFacts, device: DeviceSpec) -> str | None:
        """Why PyTorch does not run the program there; None: only a try can tell."""
        from autotune_backends.torch.offers import refusal

        return refusal(model, device, self.missing())

    def probe(self, model: ModelFacts, device: DeviceSpec) -> Probe:
        """Open the program."""
        from autotune_backends.torch.probe import probe

        return probe(model, device, self.opener)

    def offer(self, model: ModelFacts, device: DeviceSpec, found: Probe) -> Offer:
        """What is legal for a program that runs."""
        from autotune.models.pt2_facts import largest_batch
        from autotune_backends.torch.offers import offer
        from autotune_backends.torch.traits import traits_of

        return offer(device, traits_of(model, found.batch, largest_batch(model.path)))

    def widest(self, model_format: str, device: DeviceSpec) -> Offer | None:
        """All that is offered for a program with every kind of layer that makes a difference."""
        from autotune_backends.torch.offers import offer
        from autotune_backends.torch.traits import widest_traits

        return offer(device, widest_traits()) if model_format == "pt2" else None

    def build(
        self,
        model: ModelFacts,
        candidate: Candidate,
        device: DeviceSpec,  # noqa: ARG002 - compiled files are this machine's, whatever is asked for
        folder: Path,
        calibration: Callable[[], Iterable[Tensors]],  # noqa: ARG002 - nothing here is calibrated
        custom_op_library: Path | None = None,  # noqa: ARG002 - refused when the model is read
    ) -> Artifact:
        """Write the candidate's files into the empty ``folder``. Raises ``BuildError``."""
        from autotune_backends.torch.building import build

        return build(model, candidate, folder)

    def deployment(self, artifact: Artifact, candidate: Candidate) -> Deployment:
        """Describe the artifact as data, for export; what onnxruntime opens is onnxruntime's from then on."""
        described = super().deployment(artifact, candidate)
        return described.model_copy(update={"runtime": described.session.runtime})

    def settings(self, candidate: Candidate, cpus: int) -> SessionSettings:
        """Options of ``TorchSession``, or of onnxruntime."""
        from autotune_backends.torch.settings import session_settings

        return session_settings(candidate, cpus)

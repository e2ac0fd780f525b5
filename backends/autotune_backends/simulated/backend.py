"""The backend of devices that one does not own: candidates are computed, not built and measured."""

# ruff: noqa: ARG002  - the protocol's signatures

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.deployment import Deployment, SessionSettings
from autotune.core.device import DeviceSpec
from autotune.core.errors import BuildError, OpenError
from autotune.core.limits import Limit
from autotune.core.model import LANGUAGE_MODEL, ModelFacts
from autotune.core.ownership import Ownership
from autotune.core.ports import Session
from autotune.core.samples import Tensors
from autotune.core.space import Offer
from autotune.core.values import Value
from autotune.core.version import __version__
from autotune.core.workload import Workload

__all__ = ["SimulatedBackend"]

NAME = "simulated"
GRAPH = "onnx"
_LARGE = "llama-3.1-70b"  # too large for some devices without stages, so that these are a choice too
_NOTHING_BUILT = "nothing is built for a simulated device"


class SimulatedBackend:
    """Language models and graphs on devices described as data: predicted, not run.

    Implements ``Backend``, ``Simulating``, ``Screening``, ``Catalogued``.
    """

    name = NAME

    def versions(self) -> Mapping[str, str]:
        """The simulator's own: its numbers change with it."""
        return {"autotune-simulator": __version__}

    def devices(self) -> Sequence[DeviceSpec]:
        """Every device of the catalogue."""
        from autotune_backends.simulated.described import spec_of
        from autotune_backends.simulated.devices import device_named, device_names

        return [spec_of(device_named(name)) for name in device_names()]

    def simulated_device(self, name: str, calibration: Path | None = None) -> DeviceSpec:
        """A device of the catalogue by name or alias, or that of a YAML file. Raises ``UserError``."""
        from autotune_backends.simulated.described import described, spec_of

        file = Path(name).absolute() if name.endswith((".yaml", ".yml")) else None
        table = calibration.absolute() if calibration is not None else None
        return spec_of(described(str(file or name), table), file, table)

    def language_model(self, name: str) -> ModelFacts:
        """A built-in language model, or that of a folder's ``config.json``. Raises ``UserError``."""
        from autotune_backends.simulated.described import facts_of

        return facts_of(name)

    def offers(self, model: ModelFacts, device: DeviceSpec) -> Offer:
        """What can be chosen for a language model, or for a graph, there."""
        from autotune_backends.simulated.described import device_of, transformer_of

        if model.format == GRAPH:
            from autotune_backends.simulated.graphs import graph_offer

            return graph_offer(self.name, model, device_of(device))
        if model.format != LANGUAGE_MODEL:
            refusal = f"language models and ONNX graphs are simulated, not {model.format}"
            return Offer(backend=self.name, device=device.name, refusal=refusal)
        from autotune_backends.simulated.offers import language_offer

        return language_offer(self.name, transformer_of(model), device_of(device))

    def widest(self, model_format: str, device: DeviceSpec) -> Offer | None:
        """For graphs, and for language models: of these, what a large one allows."""
        from autotune_backends.simulated.described import device_of

        if model_format == LANGUAGE_MODEL:
            return self.offers(self.language_model(_LARGE), device)
        if model_format != GRAPH:
            return None
        from autotune_backends.simulated.graphs import widest_graph_offer

        return widest_graph_offer(self.name, device_of(device))

    def simulate(
        self,
        model: ModelFacts,
        candidate: Candidate,
        device: DeviceSpec,
        workload: Workload,
        *,
        limits: Sequence[Limit] = (),
        confidence: float = 0.8,
        seed: int = 0,
        own: Ownership | None = None,
    ) -> Mapping[str, Value]:
        """Serve the workload in virtual time, or price a graph. Raises as ``Simulating`` says."""
        from autotune_backends.simulated.described import device_of, transformer_of
        from autotune_backends.simulated.known_parameters import refuse_unknown

        refuse_unknown(candidate, graph=model.format == GRAPH)
        if model.format == GRAPH:
            from autotune_backends.simulated.graphs import predict_graph

            return predict_graph(model, device_of(device), candidate, workload, confidence, own)
        from autotune_backends.simulated.prediction import predict

        return predict(
            transformer_of(model),
            device_of(device),
            candidate,
            workload,
            limits=limits,
            confidence=confidence,
            seed=seed,
            own=own,
        )

    def screen(
        self,
        model: ModelFacts,
        candidates: Sequence[Candidate],
        device: DeviceSpec,
        workload: Workload,
        own: Ownership | None = None,
    ) -> Sequence[Mapping[str, float] | None]:
        """Steady states without events, as ``Screening`` says."""
        from autotune_backends.simulated.described import device_of, transformer_of

        if model.format == GRAPH:
            from autotune_backends.simulated.graphs import screened_graph

            return screened_graph(model, device_of(device), candidates, workload, own)
        from autotune_backends.simulated.screening import screened

        return screened(transformer_of(model), device_of(device), candidates, workload, own)

    def build(
        self,
        model: ModelFacts,
        candidate: Candidate,
        device: DeviceSpec,
        folder: Path,
        calibration: Callable[[], Iterable[Tensors]],
        custom_op_library: Path | None = None,
    ) -> Artifact:
        """Raises ``BuildError``: trials on simulated devices do not come here."""
        raise BuildError("unsupported", _NOTHING_BUILT)

    def open(self, artifact: Artifact, device: DeviceSpec) -> Session:
        """Raises ``OpenError`` likewise."""
        raise OpenError("unsupported", _NOTHING_BUILT)

    def deployment(self, artifact: Artifact, candidate: Candidate) -> Deployment:
        """The candidate's name alone: there are no files."""
        return Deployment(runtime=self.name, model=artifact.model, files=(), session=SessionSettings())

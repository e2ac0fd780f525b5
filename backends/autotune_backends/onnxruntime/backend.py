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
from autotune.core.model import BatchAxis, ModelFacts
from autotune.core.ports import Session
from autotune.core.samples import Tensors
from autotune.core.space import Offer
from autotune_backends.onnxruntime.arrays import no_array

if TYPE_CHECKING:
    from autotune_backends.onnxruntime.choices import ModelTraits

__all__ = ["OPENER", "OnnxRuntimeBackend"]

OPENER = "autotune_backends.onnxruntime.session:open_session"
"""What a session's process calls."""

_DISTRIBUTIONS = ("onnxruntime", "onnxruntime-gpu", "onnx", "onnx-ir", "sympy", "torch", "numpy")


class OnnxRuntimeBackend:
    """Implements ``core.ports.Backend``. Holds no session: the runtime is imported only where a session lives or a build runs."""

    name = "onnxruntime"

    def __init__(self) -> None:
        self._probed: dict[tuple[str, str], BatchAxis] = {}

    def versions(self) -> Mapping[str, str]:
        """Versions of the packages that artifacts and numbers depend on."""
        return {name: found for name in _DISTRIBUTIONS if (found := _version(name))}

    def devices(self) -> Sequence[DeviceSpec]:
        """The CPU."""
        return [self._cpu]

    def offers(self, model: ModelFacts, device: DeviceSpec) -> Offer:
        """Read the graph and try batch 2 (once a model), then offer what is legal."""
        from autotune_backends.onnxruntime.offers import offer

        if refusal := self._refusal(model, device):
            return Offer(backend=self.name, device=device.name, refusal=refusal)
        return offer(model, device, self._traits(model, device))

    def build(
        self,
        model: ModelFacts,
        candidate: Candidate,
        device: DeviceSpec,
        folder: Path,
        calibration: Callable[[], Iterable[Tensors]],
        custom_op_library: Path | None = None,
    ) -> Artifact:
        """Write the candidate's files into the empty ``folder``. Raises ``BuildError``."""
        from autotune_backends.onnxruntime.building import build

        return build(model, candidate, folder, calibration, custom_op_library, device)

    def open(self, artifact: Artifact, device: DeviceSpec) -> Session:
        """Return the session; entering it starts its process. Raises ``OpenError`` there."""
        from autotune.measure.session_process import SessionProcess

        return SessionProcess(OPENER, artifact, device)

    def deployment(self, artifact: Artifact, candidate: Candidate) -> Deployment:
        """Describe the artifact as data, for export."""
        from autotune_backends.onnxruntime.settings import session_settings

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

    def _refusal(self, model: ModelFacts, device: DeviceSpec) -> str | None:
        if model.format != "onnx":
            return f"onnxruntime reads ONNX models, not {model.format}"
        if device.kind != "real" or device.device_class != "cpu":
            return f"this backend has no provider for {device.name} ({device.kind} {device.device_class})"
        return next((why for one in (*model.inputs, *model.outputs) if (why := no_array(one))), None)

    def _traits(self, model: ModelFacts, device: DeviceSpec) -> ModelTraits:
        from autotune_backends.onnxruntime.choices import ModelTraits
        from autotune_backends.onnxruntime.numa import numa_nodes
        from autotune_backends.transform.onnx.differentiable import without_derivative
        from autotune_backends.transform.onnx.fuse_transformer import transformer_parts
        from autotune_backends.transform.onnx.graph import load_graph
        from autotune_backends.transform.onnx.prunable import find_chains
        from autotune_backends.transform.onnx.quantisable import float_weight_dtype, products, quantisable

        graph = load_graph(model.path)
        return ModelTraits(
            weights=float_weight_dtype(graph),
            quantisable=quantisable(graph),
            batch=self._batch(model, device),
            products=products(graph),
            transformer=transformer_parts(graph),
            block_tool=_version("onnx-ir") is not None,
            fusion_tool=_version("sympy") is not None,
            numa_nodes=numa_nodes(),
            prunable=sum(chain.spoilt is None for chain in find_chains(graph)),
            trainer=_version("torch") is not None,
            untrained=tuple(sorted(without_derivative(graph))),
        )

    def _batch(self, model: ModelFacts, device: DeviceSpec) -> BatchAxis:
        from autotune_backends.onnxruntime.batch_probe import probe_batch

        key = (model.sha256, device.name)
        if key not in self._probed:
            self._probed[key] = model.batch if model.batch.works else probe_batch(model, device, OPENER)
        return self._probed[key]


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None

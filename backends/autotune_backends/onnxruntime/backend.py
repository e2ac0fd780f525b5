"""The backend that the hub finds by its entry point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.deployment import SessionSettings
from autotune.core.device import DeviceSpec
from autotune.core.model import BatchAxis, ModelFacts, whatever
from autotune.core.package import Package
from autotune.core.samples import Tensors
from autotune.core.space import Offer
from autotune_backends.cpu import CpuBackend, installed
from autotune_backends.onnxruntime.arrays import no_array
from autotune_backends.remembered import Remembered

if TYPE_CHECKING:
    from autotune_backends.onnxruntime.choices import ModelTraits

__all__ = ["OnnxRuntimeBackend"]

_DISTRIBUTIONS = ("onnxruntime", "onnxruntime-gpu", "onnx", "onnx-ir", "sympy", "torch", "numpy")


class OnnxRuntimeBackend(CpuBackend):
    """ONNX models on the CPU, through onnxruntime.

    Implements ``core.ports.Backend``.
    """

    name = "onnxruntime"
    opener = "autotune_backends.onnxruntime.session:open_session"
    package = Package("onnxruntime", "pip install onnxruntime")

    def __init__(self) -> None:
        self._batch = Remembered(self._try_batch)

    def missing(self) -> Package | None:
        """None also where onnxruntime-gpu stands in for onnxruntime."""
        return None if installed("onnxruntime-gpu") else super().missing()

    def versions(self) -> Mapping[str, str]:
        """Versions of the packages that artifacts and numbers depend on."""
        return {name: found for name in _DISTRIBUTIONS if (found := installed(name))}

    def offers(self, model: ModelFacts, device: DeviceSpec) -> Offer:
        """Read the graph and try batch 2 (once a model), then offer what is legal."""
        from autotune_backends.onnxruntime.offers import offer

        if refusal := self._refusal(model, device):
            return Offer(backend=self.name, device=device.name, refusal=refusal)
        return offer(model, device, self._traits(model, device))

    def widest(self, model_format: str, device: DeviceSpec) -> Offer | None:
        """All that is offered for a float32 model with every kind of layer that makes a difference."""
        from autotune_backends.onnxruntime.offers import offer

        if model_format != "onnx":
            return None
        model = whatever(model_format)
        return offer(model, device, _of_all_kinds(model.batch))

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

    def settings(self, candidate: Candidate, cpus: int) -> SessionSettings:
        """``SessionOptions``' fields and entries."""
        from autotune_backends.onnxruntime.settings import session_settings

        return session_settings(candidate, cpus)

    def _refusal(self, model: ModelFacts, device: DeviceSpec) -> str | None:
        if model.format != "onnx":
            return f"onnxruntime reads ONNX models, not {model.format}"
        if device.kind != "real" or device.device_class != "cpu":
            return f"this backend has no provider for {device.name} ({device.kind} {device.device_class})"
        return next((why for one in (*model.inputs, *model.outputs) if (why := no_array(one))), None)

    def _traits(self, model: ModelFacts, device: DeviceSpec) -> ModelTraits:
        from autotune_backends.transform.onnx.differentiable import without_derivative
        from autotune_backends.transform.onnx.fuse_transformer import transformer_parts
        from autotune_backends.transform.onnx.graph import load_graph
        from autotune_backends.transform.onnx.prunable import find_chains
        from autotune_backends.transform.onnx.quantisable import float_weight_dtype, products, quantisable

        graph = load_graph(model.path)
        return replace(
            _tools(self._batch(model, device)),
            weights=float_weight_dtype(graph),
            quantisable=quantisable(graph),
            products=products(graph),
            transformer=transformer_parts(graph),
            prunable=sum(chain.spoilt is None for chain in find_chains(graph)),
            untrained=tuple(sorted(without_derivative(graph))),
        )

    def _try_batch(self, model: ModelFacts, device: DeviceSpec) -> BatchAxis:
        from autotune_backends.onnxruntime.batch_probe import probe_batch

        return model.batch if model.batch.works else probe_batch(model, device, self.opener)


def _of_all_kinds(batch: BatchAxis) -> ModelTraits:
    kinds = Counter(Conv=4, Gemm=4, MatMul=4)
    parts = ("attention", "LayerNorm", "GELU")
    return replace(_tools(batch), weights="float32", quantisable=kinds, products=kinds, transformer=parts, prunable=1)


def _tools(batch: BatchAxis) -> ModelTraits:
    """Of a model with nothing to choose: what is installed, and what this host is."""
    from autotune_backends.onnxruntime.choices import ModelTraits
    from autotune_backends.onnxruntime.numa import numa_nodes

    return ModelTraits(
        weights=None,
        quantisable=Counter(),
        batch=batch,
        block_tool=installed("onnx-ir") is not None,
        fusion_tool=installed("sympy") is not None,
        numa_nodes=numa_nodes(),
        trainer=installed("torch") is not None,
    )

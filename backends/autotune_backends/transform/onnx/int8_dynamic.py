"""Dynamic int8: weights are int8 in the file, activations are quantised to uint8 while the model runs."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.graph import DEFAULT_DOMAIN, external_files, load_graph, nodes, opset, size_bytes
from autotune_backends.transform.onnx.preprocess import Preprocess, quiet_tools
from autotune_backends.transform.onnx.quantisable import quantisable, quantised
from autotune_backends.transform.onnx.repair import Repair

__all__ = ["EXTERNAL_ABOVE_BYTES", "Int8Dynamic"]

EXTERNAL_ABOVE_BYTES = 1_500_000_000
"""Larger models keep their weights in a file of their own: a protobuf message ends at 2 GB, and tools add to it."""


@dataclass(frozen=True)
class Int8Dynamic:
    """``per_channel``: a scale for each output channel. ``matmul_only``: leave every operator but MatMul and Gemm.

    ``reduce_range``: 7-bit weights, against saturation of u8 × s8 products on x86 CPUs without VNNI.
    ``custom_ops``: the model has operators that only a library of its own knows.
    """

    per_channel: bool = False
    matmul_only: bool = False
    reduce_range: bool = False
    custom_ops: bool = False

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the quantised model. Its ``facts`` tell what became of it; nothing is written when nothing did."""
        original = load_graph(source)
        external = bool(external_files(original)) or size_bytes(source) > EXTERNAL_ABOVE_BYTES
        with tempfile.TemporaryDirectory(prefix=".quantising-", dir=target.parent) as work:
            repaired, prepared = Path(work, "repaired", "model.onnx"), Path(work, "prepared", "model.onnx")
            for file in (repaired, prepared):
                file.parent.mkdir()
            repair = Repair(for_quantiser=True)(source, repaired)
            usable = source if repair.unchanged else repaired
            preparation = Preprocess(external, self.custom_ops)(usable, prepared)
            self._quantise(prepared, target, external)
        facts = self._facts(original, load_graph(target)) | _sizes(source, target)
        if not facts["quantised"]:
            _remove(target)
            return Change("int8_dynamic", facts, unchanged=_why_nothing(original))
        parts = {change.name: change.facts for change in (repair, preparation) if change.facts}
        return Change("int8_dynamic", facts | parts)

    def _quantise(self, prepared: Path, target: Path, external: bool) -> None:
        from onnxruntime.quantization import quantize_dynamic

        with quiet_tools():
            quantize_dynamic(
                str(prepared),
                str(target),
                op_types_to_quantize=["MatMul"] if self.matmul_only else None,
                per_channel=self.per_channel,
                reduce_range=self.reduce_range,
                nodes_to_exclude=_standard_attention(load_graph(prepared)),
                use_external_data_format=external,
                extra_options=_options(self.custom_ops),
            )

    def _facts(self, before: Any, after: Any) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "nodes_before": sum(1 for _ in nodes(before.graph)),
            "nodes_after": sum(1 for _ in nodes(after.graph)),
            "quantised": dict(sorted((quantised(after) - quantised(before)).items())),
        }
        if opset(before) != opset(after):
            facts["opset"] = f"converted {opset(before)} → {opset(after)}"
        return facts


def _options(custom_ops: bool) -> dict[str, Any]:
    """Behind a custom operator no shape inference knows a type: weights beside float activations are float."""
    from onnx import TensorProto

    return {"DefaultTensorType": int(TensorProto.FLOAT)} if custom_ops else {}


def _standard_attention(model: Any) -> list[str]:
    """Names of the standard's own Attention nodes (opset 23), which the quantiser mistakes for com.microsoft's."""
    return [node.name for node in model.graph.node if node.op_type == "Attention" and node.domain in DEFAULT_DOMAIN]


def _sizes(source: Path, target: Path) -> dict[str, int]:
    return {"bytes_before": size_bytes(source), "bytes_after": size_bytes(target)}


def _remove(model: Path) -> None:
    for name in external_files(load_graph(model)):
        (model.parent / name).unlink(missing_ok=True)
    model.unlink()


def _why_nothing(model: Any) -> str:
    everywhere = quantisable(model)
    top = [node.op_type for node in model.graph.node]
    if not everywhere:
        return "the model has no operator that dynamic int8 reaches"
    names = ", ".join(sorted(everywhere))
    if not set(top) & {name.rpartition("::")[2] for name in everywhere}:
        return f"nothing was quantised: {names} is inside control flow only, which the quantiser leaves alone"
    return f"nothing was quantised: no {names} has a constant float32 weight"

"""Dynamic int8: weights are int8 in the file, activations are quantised to uint8 while the model runs."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.graph import DEFAULT_DOMAIN, external_files, load_graph, nodes, size_bytes
from autotune_backends.transform.onnx.prepare import Prepare
from autotune_backends.transform.onnx.quantisable import quantisable, quantised
from autotune_backends.transform.onnx.repair import Repair
from autotune_backends.transform.onnx.tool_words import quiet_tools

__all__ = ["EXTERNAL_ABOVE_BYTES", "Int8Dynamic"]

EXTERNAL_ABOVE_BYTES = 1_500_000_000
"""Larger models keep their weights in a file of their own: a protobuf message ends at 2 GB, and tools add to it."""


@dataclass(frozen=True)
class Int8Dynamic:
    """``per_channel``: a scale for each output channel. ``matmul_only``: leave every operator but MatMul and Gemm.

    ``reduce_range``: 7-bit weights, against saturation of u8 × s8 products on x86 CPUs without VNNI.
    ``library``: what implements the model's own operators, None: it has none.
    """

    per_channel: bool = False
    matmul_only: bool = False
    reduce_range: bool = False
    library: Path | None = None

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the quantised model. Its ``facts`` tell what became of it; nothing is written when nothing did."""
        original = load_graph(source)
        before = size_bytes(source, original)
        external = bool(external_files(original)) or before > EXTERNAL_ABOVE_BYTES
        with tempfile.TemporaryDirectory(prefix=".quantising-", dir=target.parent) as work:
            repaired, prepared = _places(Path(work))
            repair = Repair(for_quantiser=True)(source, repaired)
            preparation = Prepare(external, self.library)(source if repair.unchanged else repaired, prepared)
            self._quantise(prepared, target, external)
        result = load_graph(target)
        facts = _facts(original, result) | {"bytes_before": before, "bytes_after": size_bytes(target, result)}
        if not facts["quantised"]:
            _remove(target, external_files(result))
            return Change("int8_dynamic", facts, unchanged=_why_nothing(original))
        parts = {change.name: change.facts for change in (repair, preparation) if change.facts}
        return Change("int8_dynamic", facts | parts)

    def _quantise(self, prepared: Path, target: Path, external: bool) -> None:
        """Quantise by path. Where no inference knows a type (behind other domains' operators), it is that of the weights."""
        from onnx import TensorProto
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
                extra_options={"DefaultTensorType": int(TensorProto.FLOAT)},
            )


def _places(work: Path) -> tuple[Path, Path]:
    """Paths of the model between the steps, each in a folder of its own: external data keep their names."""
    for name in ("repaired", "prepared"):
        (work / name).mkdir()
    return work / "repaired" / "model.onnx", work / "prepared" / "model.onnx"


def _facts(before: Any, after: Any) -> dict[str, Any]:
    return {
        "nodes_before": sum(1 for _ in nodes(before.graph)),
        "nodes_after": sum(1 for _ in nodes(after.graph)),
        "quantised": dict(sorted((quantised(after) - quantised(before)).items())),
    }


def _standard_attention(model: Any) -> list[str]:
    """Names of the standard's own Attention nodes (opset 23), which the quantiser mistakes for com.microsoft's."""
    return [node.name for node in model.graph.node if node.op_type == "Attention" and node.domain in DEFAULT_DOMAIN]


def _remove(model: Path, external: tuple[str, ...]) -> None:
    for name in external:
        (model.parent / name).unlink()
    model.unlink()


def _why_nothing(model: Any) -> str:
    everywhere = quantisable(model)
    if not everywhere:
        return "the model has no operator that dynamic int8 reaches"
    names = ", ".join(sorted(everywhere))
    top = {node.op_type for node in model.graph.node}
    if not top & {name.rpartition("::")[2] for name in everywhere}:
        return f"nothing was quantised: {names} is inside control flow only, which the quantiser leaves alone"
    return f"nothing was quantised: no {names} has a constant float32 weight"

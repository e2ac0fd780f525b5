"""Dynamic int8: weights are int8 in the file, activations are quantised to uint8 while the model runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.graph import DEFAULT_DOMAIN, load_graph
from autotune_backends.transform.onnx.prepare import Prepare
from autotune_backends.transform.onnx.prepared import Prepared, prepared
from autotune_backends.transform.onnx.quantisable import quantisable, quantised
from autotune_backends.transform.onnx.sensitivity import Kept
from autotune_backends.transform.onnx.tool_words import quiet_tools

__all__ = ["Int8Dynamic"]


@dataclass(frozen=True)
class Int8Dynamic:
    """``per_channel``: a scale for each output channel.

    ``matmul_only``: leave every operator but MatMul, Gemm, and the Attention that they may have been fused to.
    ``reduce_range``: 7-bit weights, against saturation of u8 × s8 products on x86 CPUs without VNNI.
    ``library``: what implements the model's own operators, None: it has none. ``mixed`` None: no layer is kept in float32.
    """

    per_channel: bool = False
    matmul_only: bool = False
    reduce_range: bool = False
    library: Path | None = None
    mixed: Kept | None = None

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the quantised model. Its ``facts`` tell what became of it; nothing is written when nothing did."""
        with prepared(source, target, Prepare(self.library)) as ready:
            kept = self.mixed.names(ready.path, self.library, per_channel=self.per_channel) if self.mixed else {}
            self._quantise(ready, target, [*kept, *(f"{name}_MatMul" for name in kept)])
            counted = quantised(load_graph(target)) - quantised(ready.original)
            facts: dict[str, Any] = {"quantised": dict(sorted(counted.items()))}
            facts |= {"kept_in_float_db": kept} if kept else {}
            return ready.change("int8_dynamic", target, counted, _why_nothing(ready.original), **facts)

    def _quantise(self, ready: Prepared, target: Path, kept: list[str]) -> None:
        """Quantise by path, but for ``kept`` (a Gemm is rewritten first, to a MatMul called so after it).

        Where no inference knows a type (behind other domains' operators), it is that of the weights.
        """
        from onnx import TensorProto
        from onnxruntime.quantization import quantize_dynamic

        with quiet_tools():
            quantize_dynamic(
                str(ready.path),
                str(target),
                op_types_to_quantize=["MatMul", "Attention"] if self.matmul_only else None,
                per_channel=self.per_channel,
                reduce_range=self.reduce_range,
                nodes_to_exclude=[*_standard_attention(load_graph(ready.path)), *kept],
                use_external_data_format=ready.external,
                extra_options={"DefaultTensorType": int(TensorProto.FLOAT)},
            )


def _standard_attention(model: Any) -> list[str]:
    """Names of the standard's own Attention nodes (opset 23), which the quantiser mistakes for com.microsoft's."""
    return [node.name for node in model.graph.node if node.op_type == "Attention" and node.domain in DEFAULT_DOMAIN]


def _why_nothing(model: Any) -> str:
    everywhere = quantisable(model)
    if not everywhere:
        return "the model has no operator that dynamic int8 reaches"
    names = ", ".join(sorted(everywhere))
    top = {node.op_type for node in model.graph.node}
    if not top & {name.rpartition("::")[2] for name in everywhere}:
        return f"nothing was quantised: {names} is inside control flow only, which the quantiser leaves alone"
    return f"nothing was quantised: no {names} has a constant float32 weight"

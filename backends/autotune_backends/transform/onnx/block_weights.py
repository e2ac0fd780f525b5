"""Weights alone in 4 or 8 bits, a scale for each block of them: MatMulNBits, made for products that wait for memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.graph import load_graph, nodes
from autotune_backends.transform.onnx.prepare import Prepare
from autotune_backends.transform.onnx.prepared import Prepared, prepared
from autotune_backends.transform.onnx.tool_words import quiet_tools

__all__ = ["ACCURACY_LEVELS", "BlockWeights"]

ACCURACY_LEVELS = {"int8": 4, "fp32": 1}
"""Type that activations are multiplied in → ``accuracy_level`` of MatMulNBits (onnxruntime, ContribOperators.md)."""


@dataclass(frozen=True)
class BlockWeights:
    """``bits``: 4 or 8. ``block``: weights of one column that share a scale. ``products``: a key of ``ACCURACY_LEVELS``.

    ``library``: what implements the model's own operators, None: it has none.
    """

    bits: int = 4
    block: int = 32
    products: str = "int8"
    library: Path | None = None

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the model with its constant matrices quantised. ``facts``: how many became MatMulNBits."""
        with prepared(source, target, Prepare(self.library)) as ready:
            self._quantise(ready, target)
            counted = _blocked(load_graph(target)) - _blocked(ready.original)
            facts = {"quantised": {"MatMul": counted.total()}}
            why = "nothing was quantised: no MatMul or Gemm multiplies by a constant float32 matrix"
            return ready.change(f"int{self.bits}_weights", target, counted, why, **facts)

    def _quantise(self, ready: Prepared, target: Path) -> None:
        """Rewrite Gemm as MatMul and Add, as the other quantisers do by themselves; then quantise without data."""
        with quiet_tools():
            from onnx import load
            from onnxruntime.quantization.matmul_nbits_quantizer import (
                DefaultWeightOnlyQuantConfig,
                MatMulNBitsQuantizer,
            )

            how = DefaultWeightOnlyQuantConfig(
                block_size=self.block,
                is_symmetric=True,
                accuracy_level=ACCURACY_LEVELS[self.products],
                bits=self.bits,
            )
            quantiser = MatMulNBitsQuantizer(load(str(ready.path)), algo_config=how)
            quantiser.model.replace_gemm_with_matmul()
            quantiser.process()
            quantiser.model.save_model_to_file(str(target), ready.external)


def _blocked(model: Any) -> Counter[str]:
    return Counter(node.op_type for node in nodes(model.graph) if node.op_type == "MatMulNBits")

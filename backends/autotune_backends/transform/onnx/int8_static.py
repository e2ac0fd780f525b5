"""Static int8: weights and activations are int8, by ranges seen on calibration data (QuantizeLinear / DequantizeLinear)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune.core.samples import Tensors
from autotune_backends.transform.onnx.calibration import tensor_ranges
from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.flat_bias import flatten_biases
from autotune_backends.transform.onnx.graph import kind, load_graph
from autotune_backends.transform.onnx.opset import OLDEST_OPSET, PER_CHANNEL_OPSET
from autotune_backends.transform.onnx.prepare import Prepare
from autotune_backends.transform.onnx.prepared import Prepared, prepared
from autotune_backends.transform.onnx.quantisable import PRODUCTS
from autotune_backends.transform.onnx.sensitivity import Kept
from autotune_backends.transform.onnx.tool_words import quiet_tools

__all__ = ["TYPES", "Int8Static", "dequantised"]

TYPES = {"u8s8": ("QUInt8", "QInt8"), "s8s8": ("QInt8", "QInt8"), "u8u8": ("QUInt8", "QUInt8")}
"""Our values → members of ``onnxruntime.quantization.QuantType`` for activations and weights."""


@dataclass(frozen=True)
class Int8Static:
    """``calibration`` yields samples of batch 1, anew each time. ``types`` and ``method``: keys of ``TYPES``, ``METHODS``.

    ``per_channel``: a scale for each output channel. ``products_only``: leave every operator but Conv, MatMul and Gemm.
    ``reduce_range``: 7-bit weights, against saturation of u8 × s8 products on x86 CPUs without VNNI.
    ``library``: what implements the model's own operators, None: it has none.
    ``share`` of the products, the least sensitive ones, is quantised; 1: all of them.
    """

    calibration: Callable[[], Iterable[Tensors]]
    types: str = "u8s8"
    method: str = "minmax"
    per_channel: bool = False
    products_only: bool = False
    reduce_range: bool = False
    library: Path | None = None
    share: float = 1.0

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the quantised model. ``facts``: operators that became int8, and how many samples they were calibrated on."""
        oldest = PER_CHANNEL_OPSET if self.per_channel else OLDEST_OPSET
        with prepared(source, target, Prepare(self.library, oldest)) as ready:
            mixed = Kept(self.calibration, self.share)
            kept = mixed.names(ready.path, self.library, per_channel=self.per_channel)
            count = self._quantise(ready, target, list(kept))
            done = dequantised(load_graph(target), self._kinds(), kept)
            counted = done - dequantised(ready.original, self._kinds())
            facts: dict[str, Any] = {"quantised": dict(sorted(counted.items())), "calibrated_on": count}
            facts |= {"kept_in_float_db": kept} if kept else {}
            return ready.change(
                "int8_static", target, counted, "nothing was quantised: no operator is in reach", **facts
            )

    def _quantise(self, ready: Prepared, target: Path, kept: list[str]) -> int:
        """Calibrate, quantise all but ``kept``, save; return the number of samples. The same steps as ``quantize_static`` takes.

        Taken one by one, because it keeps the activations of all samples and knows no operators of the user's.
        """
        from onnx import TensorProto
        from onnxruntime.quantization import QDQQuantizer, QuantType
        from onnxruntime.quantization.quant_utils import load_model_with_shape_infer

        kinds = self._kinds()
        ranges, count = tensor_ranges(ready.path, self.calibration(), self.method, kinds, ready.external, self.library)
        activations, weights = (getattr(QuantType, name) for name in TYPES[self.types])
        options = {"DefaultTensorType": int(TensorProto.FLOAT)}
        with quiet_tools():
            model = load_model_with_shape_infer(ready.path)
            flatten_biases(model)
            quantiser = QDQQuantizer(
                model,
                self.per_channel,
                self.reduce_range,
                weights,
                activations,
                ranges,
                [],
                kept,
                kinds,
                options,
            )
            quantiser.quantize_model()
            quantiser.model.save_model_to_file(str(target), ready.external)
        return count

    def _kinds(self) -> list[str]:
        """Operator types to quantise, in a fixed order: by default, all that the tool knows."""
        from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry

        return sorted(PRODUCTS if self.products_only else {*QDQRegistry, *QLinearOpsRegistry})


def dequantised(model: Any, kinds: Collection[str], kept: Collection[str] = ()) -> Counter[str]:
    """Count, of these kinds, the operators of the main graph that read a dequantised tensor: others merely follow one.

    Those ``kept`` in float32, by name, may read one that their neighbours share.
    """
    read = {node.output[0] for node in model.graph.node if node.op_type == "DequantizeLinear"}
    float32 = set(kept)
    reading = (kind(node) for node in model.graph.node if node.name not in float32 and not read.isdisjoint(node.input))
    return Counter(name for name in reading if name in kinds)

"""Half precision: weights and products in float16, inputs and outputs as they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from autotune.core.samples import Tensors
from autotune_backends.transform.onnx.calibration import tensor_ranges
from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.graph import load_graph, nodes
from autotune_backends.transform.onnx.prepare import Prepare
from autotune_backends.transform.onnx.prepared import Prepared, prepared
from autotune_backends.transform.onnx.tool_words import quiet_tools

__all__ = ["Float16", "beyond"]

_LARGEST = float(np.finfo(np.float16).max)
_CHECKED_SAMPLES = 16
_SHOWN = 8


@dataclass(frozen=True)
class Float16:
    """``samples`` yields inputs of batch 1, anew each time, for the check of ranges.

    ``library``: what implements the model's own operators, None: it has none.
    """

    samples: Callable[[], Iterable[Tensors]]
    library: Path | None = None

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the converted model. ``facts``: what is float16, and a ``warning`` where the CPU hides an overflow."""
        with prepared(source, target, Prepare(self.library)) as ready:
            ranges = self._check_ranges(ready)
            _convert(ready, target)
            counted = _halves(load_graph(target))
            why = "the model has no float32 tensor to convert"
            return ready.change("fp16", target, counted, why, float16=dict(counted), **ranges)

    def _check_ranges(self, ready: Prepared) -> dict[str, Any]:
        """Say which tensors of the float32 model float16 cannot hold.

        Many CPUs compute float16 in float32, so that the converted model's own outputs do not tell.
        """
        samples = list(islice(self.samples(), _CHECKED_SAMPLES))
        if not samples:
            return {"range_checked_on": 0}
        found, count = tensor_ranges(ready.path, samples, "minmax", (), ready.external, self.library)
        largest = beyond(found)
        facts: dict[str, Any] = {"range_checked_on": count}
        if largest:
            first = next(iter(largest))
            facts["beyond_range"] = largest
            facts["warning"] = (
                f"{first!r} reaches {largest[first]:.6g}, above {_LARGEST:g}: infinite where float16 is really computed"
            )
        return facts


def beyond(ranges: Any) -> dict[str, float]:
    """Tensors whose largest magnitude float16 cannot hold, the worst first, at most eight."""
    largest = {
        str(name): float(np.max(np.abs([np.min(data.range_value[0]), np.max(data.range_value[1])])))
        for name, data in ranges.items()
    }
    worst = sorted(largest.items(), key=lambda item: -item[1])[:_SHOWN]
    return {name: value for name, value in worst if value > _LARGEST}


def _convert(ready: Prepared, target: Path) -> None:
    """Convert and save; saving sorts the nodes, among which the converter leaves its casts at the end."""
    with quiet_tools():
        from onnxruntime.quantization.onnx_model import ONNXModel
        from onnxruntime.transformers.float16 import convert_float_to_float16

        converted = convert_float_to_float16(str(ready.path), keep_io_types=True)
        ONNXModel(converted).save_model_to_file(str(target), ready.external)


def _halves(model: Any) -> Counter[str]:
    """Count weights and casts of float16."""
    from onnx import TensorProto

    weights = sum(weight.data_type == TensorProto.FLOAT16 for weight in model.graph.initializer)
    casts = sum(
        node.op_type == "Cast" and any(attribute.i == TensorProto.FLOAT16 for attribute in node.attribute)
        for node in nodes(model.graph)
    )
    return +Counter({"weights": weights, "casts": casts})

"""How much each product of a model loses in int8, by itself: what mixed precision is decided by.

The signal-to-quantisation-noise ratio of a layer's own output, its inputs being the original's: with one number a layer, layers
are ordered, and a share of them is quantised. (Dong et al., HAWQ, 2019, order layers by curvature; the ratio needs no gradients.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil, log10
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.samples import Tensors
from autotune_backends.transform.onnx.graph import load_graph
from autotune_backends.transform.onnx.plain_session import plain_session
from autotune_backends.transform.onnx.quantisable import PRODUCTS

__all__ = ["Kept", "fake_int8", "kept_in_float", "layer_sqnr", "run_with_outputs"]

_SAMPLES = 8
_CEILING_DB = 200.0
"""Of a layer that lost nothing."""

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Kept:
    """Which share of the products is quantised, by ``samples`` of batch 1 (yielded anew each time)."""

    samples: Callable[[], Iterable[Tensors]]
    share: float = 1.0

    def names(self, model: Path, library: Path | None, *, per_channel: bool) -> dict[str, float]:
        """Names of the nodes to leave in float32, with their ratios in dB. Raises ``ValueError`` without samples."""
        if self.share >= 1.0:
            return {}
        return kept_in_float(layer_sqnr(model, self.samples(), library, per_channel=per_channel), self.share)


def kept_in_float(ratios: dict[str, float], share: float) -> dict[str, float]:
    """The most sensitive layers, so many that at most ``share`` of all are left to be quantised; of equals, the first."""
    count = ceil((1.0 - share) * len(ratios) - 1e-9)
    worst = sorted(ratios, key=lambda name: ratios[name])[:count]
    return {name: ratios[name] for name in worst}


def layer_sqnr(
    model: Path, samples: Iterable[Tensors], library: Path | None = None, *, per_channel: bool = False
) -> dict[str, float]:
    """Return, by node name, the signal-to-noise ratio in dB of each product of the main graph on at most eight samples.

    The node is computed twice from the original's activations: as it is, and with its operands rounded to int8.
    Raises ``ValueError`` when there are no samples.
    """
    import onnx

    loaded = onnx.load(str(model))
    weights = {weight.name: weight for weight in loaded.graph.initializer}
    layers = [_Layer(node, weights, per_channel) for node in loaded.graph.node if _is_product(node)]
    wanted = dict.fromkeys(name for layer in layers for name in layer.activations)
    count = 0
    for found in run_with_outputs(model, list(wanted), islice(samples, _SAMPLES), library):
        count += 1
        for layer in layers:
            layer.add(found)
    if not count:
        raise ValueError("there are no calibration data")
    return {layer.name: layer.ratio_db for layer in layers}


def run_with_outputs(
    model: Path, names: Sequence[str], samples: Iterable[Tensors], library: Path | None
) -> Iterator[Tensors]:
    """Yield, for each sample, its inputs and these tensors of the model. A graph is written into its folder, weights are not.

    By path, so that weights in a file of their own stay there: a message of more than 2 GB cannot be serialised.
    """
    graph = load_graph(model)
    given = {value.name for value in graph.graph.input}
    opened = model.with_name("with_outputs.onnx")
    opened.write_bytes(_with_outputs(graph, [name for name in names if name not in given]).SerializeToString())
    session = plain_session(opened, library)
    wanted = [output.name for output in session.get_outputs()]
    for sample in samples:
        yield dict(sample) | dict(zip(wanted, session.run(wanted, dict(sample)), strict=True))


def fake_int8(values: Array, axis: int | None = None, *, signed: bool = True) -> Array:
    """Round to int8 and back. ``signed``: symmetric, as weights, with a scale for each index of ``axis`` (None: one for all).
    Otherwise asymmetric over 0…255, as activations.
    """
    if not signed:
        low, high = min(0.0, float(values.min(initial=0.0))), max(0.0, float(values.max(initial=0.0)))
        step = (high - low) / 255 or 1.0
        zero = round(-low / step)
        shifted: Array = ((np.clip(np.round(values / step) + zero, 0, 255) - zero) * step).astype(np.float32)
        return shifted
    others = None if axis is None else tuple(index for index in range(values.ndim) if index != axis % values.ndim)
    steps = np.max(np.abs(values), axis=others, keepdims=True) / 127
    steps = np.where(steps == 0, 1.0, steps)
    rounded: Array = (np.clip(np.round(values / steps), -127, 127) * steps).astype(np.float32)
    return rounded


class _Layer:
    """One node as a model of its own; signal and noise are summed over samples."""

    def __init__(self, node: Any, weights: dict[str, Any], per_channel: bool) -> None:
        from onnx import numpy_helper

        self.name = str(node.name)
        self.operands = list(dict.fromkeys(name for name in node.input if name))
        self.activations = [name for name in self.operands if name not in weights]
        self._quantised = set(node.input[:2])  # a bias is kept in 32 bits
        self._weights = {name: numpy_helper.to_array(weights[name]) for name in self.operands if name in weights}
        axis = _output_axis(node) if per_channel else None
        self._rounded = {
            name: fake_int8(array, axis) if name in self._quantised else array for name, array in self._weights.items()
        }
        self._session = plain_session(_alone(node, self.operands).SerializeToString(), None)
        self._signal = self._noise = 0.0

    def add(self, found: Tensors) -> None:
        activations = {name: found[name] for name in self.activations}
        rounded = {name: fake_int8(np.asarray(array, np.float32), signed=False) for name, array in activations.items()}
        exact = self._session.run(None, activations | self._weights)[0].astype(np.float64)
        lossy = self._session.run(None, rounded | self._rounded)[0]
        self._signal += float(np.sum(exact**2))
        self._noise += float(np.sum((exact - lossy) ** 2))

    @property
    def ratio_db(self) -> float:
        if not self._noise or not self._signal:
            return _CEILING_DB
        return min(10 * log10(self._signal / self._noise), _CEILING_DB)


def _is_product(node: Any) -> bool:
    return node.op_type in PRODUCTS and node.domain in ("", "ai.onnx")


def _output_axis(node: Any) -> int:
    """Axis of the weight that runs over outputs."""
    if node.op_type == "Conv":
        return 0
    if node.op_type == "ConvTranspose":
        return 1
    transposed = any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
    return 0 if transposed else -1


def _alone(node: Any, operands: Sequence[str]) -> Any:
    from onnx import TensorProto, helper

    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in operands]
    outputs = [helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, None)]
    return helper.make_model(
        helper.make_graph([node], "layer", inputs, outputs), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )


def _with_outputs(model: Any, names: Sequence[str]) -> Any:
    from onnx import TensorProto, helper

    known = {output.name for output in model.graph.output}
    model.graph.output.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names if name not in known
    )
    return model

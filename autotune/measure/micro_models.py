"""Small models that each ask one thing of a machine: what a speed of it is calibrated with, through the runtime itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["MICRO_MODELS", "MicroModel"]

_LAYERS = 4  # of a chain of convolutions: what converts its ends counts less
_LINKS = 64  # of a chain of the smallest kernels
_LARGE, _MIDDLE, _SMALL = 8 * 2**20, 2**20, 2**16  # values of float32: 32 MiB, 4 MiB, 256 KiB

Array = NDArray[Any]


@dataclass(frozen=True)
class MicroModel:
    """``flops`` and ``moved_bytes`` of a run, and the ``kernels`` that it launches; ``shape`` of its one float32 input ``x``."""

    name: str
    shape: tuple[int, ...]
    kernels: int
    flops: float
    moved_bytes: float
    nodes: Callable[[], tuple[list[Any], dict[str, Array]]]

    def write(self, path: Path) -> Path:
        """Write the model."""
        from onnx import TensorProto, helper, numpy_helper, save

        nodes, weights = self.nodes()
        graph = helper.make_graph(
            nodes,
            self.name,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(array, name) for name, array in weights.items()],
        )
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        return path

    def inputs(self) -> dict[str, Array]:
        """Normal numbers, always the same."""
        return {"x": np.random.default_rng(0).standard_normal(self.shape, dtype=np.float32)}


def _gemm(rows: int, inner: int, columns: int) -> MicroModel:
    def nodes() -> tuple[list[Any], dict[str, Array]]:
        return [_node("MatMul", ["x", "w"], "y")], {"w": _weights(inner, columns)}

    return MicroModel(f"gemm_{inner}", (rows, inner), 1, 2.0 * rows * inner * columns, 0.0, nodes)


def _int8(rows: int, inner: int, columns: int) -> MicroModel:
    """As dynamic quantisation leaves a product: its activations are quantised in each run."""

    def nodes() -> tuple[list[Any], dict[str, Array]]:
        from onnx import TensorProto, helper

        quantise = helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"])
        steps = [
            quantise,
            _node("MatMulInteger", ["q", "w", "zero"], "i"),
            _node("Cast", ["i"], "f", to=TensorProto.FLOAT),
            _node("Mul", ["scale", "unit"], "s"),
            _node("Mul", ["f", "s"], "y"),
        ]
        weights = np.random.default_rng(1).integers(-127, 128, (inner, columns), dtype=np.int8)
        return steps, {"w": weights, "unit": np.full((1,), 0.01, dtype=np.float32)}

    return MicroModel("int8", (rows, inner), 2, 2.0 * rows * inner * columns, 0.0, nodes)


def _convolutions(name: str, channels: int, side: int, kernel: int, group: int = 1) -> MicroModel:
    """Equal layers, one after another."""
    per_layer = 2.0 * channels * (channels // group) * kernel * kernel * side * side

    def nodes() -> tuple[list[Any], dict[str, Array]]:
        names = ["x", *(f"c{index}" for index in range(1, _LAYERS)), "y"]
        attributes = {"kernel_shape": [kernel, kernel], "pads": [kernel // 2] * 4, "group": group}
        layers = [
            _node("Conv", [names[index], f"w{index}"], names[index + 1], **attributes) for index in range(_LAYERS)
        ]
        return layers, {f"w{index}": _weights(channels, channels // group, kernel, kernel) for index in range(_LAYERS)}

    return MicroModel(name, (1, channels, side, side), _LAYERS, _LAYERS * per_layer, 0.0, nodes)


def _additions(name: str, values: int, links: int) -> MicroModel:
    """Each adds the same large constant to what the last one left: two tensors are read (by the first, one), and one is
    written, whose lines a cache reads before.
    """

    def nodes() -> tuple[list[Any], dict[str, Array]]:
        names = ["x", *(f"s{index}" for index in range(1, links)), "y"]
        return [_node("Add", ["w", names[index]], names[index + 1]) for index in range(links)], {"w": _weights(values)}

    return MicroModel(name, (1,), links, 0.0, 4.0 * values * (4 * links - 1), nodes)


def _small_gemms() -> MicroModel:
    def nodes() -> tuple[list[Any], dict[str, Array]]:
        names = ["x", *(f"h{index}" for index in range(1, _LINKS)), "y"]
        return [_node("MatMul", [names[index], "w"], names[index + 1]) for index in range(_LINKS)], {
            "w": _weights(16, 16)
        }

    return MicroModel("small_gemms", (1, 16), _LINKS, 0.0, 0.0, nodes)


def _node(operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> Any:
    from onnx import helper

    return helper.make_node(operator, inputs, [output], **attributes)


def _weights(*shape: int) -> Array:
    """Scaled so that a chain of products neither grows nor vanishes."""
    depth = int(np.prod(shape[1:])) if len(shape) > 1 else shape[0]
    values: Array = np.random.default_rng(2).standard_normal(shape) / np.sqrt(depth)
    return values.astype(np.float32)


MICRO_MODELS: Final[dict[str, MicroModel]] = {
    model.name: model
    for model in (
        _gemm(256, 1024, 1024),
        _gemm(128, 384, 1536),
        _int8(256, 1024, 1024),
        _convolutions("conv_3x3", 64, 56, 3),
        _convolutions("conv_1x1", 256, 14, 1),
        _convolutions("depthwise", 144, 56, 3, group=144),
        _additions("memory_large", _LARGE, 3),
        _additions("memory_middle", _MIDDLE, 4),
        _additions("memory_small", _SMALL, 16),
        _additions("launches", 8, _LINKS),
        _small_gemms(),
    )
}
"""What ``host_speed`` reads: matrix products, convolutions, traffic of three sizes, and the floors of kernels."""

"""Small real ONNX models, built in code: one function a model, each writes ``path`` and returns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

__all__ = ["conv_net", "embedding", "mlp", "node", "save", "value", "weight", "with_external_data"]

Dim = int | str | None


def mlp(
    path: Path, batch: Dim = "N", features: int = 16, hidden: int = 32, classes: int = 10, *, seed: int = 0
) -> Path:
    """``x[batch,features]`` float32 → MatMul, Add, Relu, MatMul → ``y[batch,classes]``."""
    nodes = [
        node("MatMul", ["x", "w0"], ["h0"]),
        node("Add", ["h0", "b0"], ["h1"]),
        node("Relu", ["h1"], ["h2"]),
        node("MatMul", ["h2", "w1"], ["y"]),
    ]
    weights = {
        "w0": weight(seed, features, hidden),
        "b0": weight(seed + 1, hidden),
        "w1": weight(seed + 2, hidden, classes),
    }
    return save(path, nodes, [value("x", [batch, features])], [value("y", [batch, classes])], weights)


def conv_net(path: Path, batch: Dim = "N", size: int = 8, classes: int = 10, *, seed: int = 0) -> Path:
    """``image[batch,1,size,size]`` float32 → Conv, Relu, GlobalAveragePool, Flatten, Gemm → ``scores[batch,classes]``."""
    nodes = [
        node("Conv", ["image", "kernel", "bias"], ["c0"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Relu", ["c0"], ["c1"]),
        node("GlobalAveragePool", ["c1"], ["c2"]),
        node("Flatten", ["c2"], ["c3"]),
        node("Gemm", ["c3", "head", "head_bias"], ["scores"]),
    ]
    weights = {
        "kernel": weight(seed, 8, 1, 3, 3),
        "bias": weight(seed + 1, 8),
        "head": weight(seed + 2, 8, classes),
        "head_bias": weight(seed + 3, classes),
    }
    inputs = [value("image", [batch, 1, size, size])]
    return save(path, nodes, inputs, [value("scores", [batch, classes])], weights)


def embedding(
    path: Path, batch: Dim = "N", length: Dim = "seq", rows: int = 32, width: int = 8, *, seed: int = 0
) -> Path:
    """``ids[batch,length]`` int64, legal below ``rows`` → Gather, ReduceMean over length, MatMul → ``y[batch,4]``."""
    nodes = [
        node("Gather", ["table", "ids"], ["g"]),
        node("ReduceMean", ["g"], ["m"], axes=[1], keepdims=0),
        node("MatMul", ["m", "head"], ["y"]),
    ]
    weights = {"table": weight(seed, rows, width), "head": weight(seed + 1, width, 4)}
    inputs = [value("ids", [batch, length], TensorProto.INT64)]
    return save(path, nodes, inputs, [value("y", [batch, 4])], weights, opset=17)


def with_external_data(path: Path, data_name: str = "", **shape: Any) -> Path:
    """``mlp`` with every weight in a file beside it, named ``data_name`` (default: the stem and ``.data``)."""
    mlp(path, **shape)
    model = onnx.load(path)
    name = data_name or f"{path.stem}.data"
    onnx.save_model(
        model, path, save_as_external_data=True, all_tensors_to_one_file=True, location=name, size_threshold=0
    )
    return path


def save(
    path: Path,
    nodes: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    weights: Mapping[str, NDArray[Any]] | None = None,
    *,
    opset: int = 17,
    ir_version: int = 8,
    domains: Mapping[str, int] | None = None,
) -> Path:
    """Write a model of these parts, unchecked: broken ones can be made as well."""
    initialisers = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(list(nodes), "graph", list(inputs), list(outputs), initialisers)
    opsets = {"": opset, **(domains or {})}
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    model = helper.make_model(graph, opset_imports=imports, ir_version=ir_version, producer_name="autotune.testing")
    path.write_bytes(model.SerializeToString())
    return path


def node(kind: str, inputs: Sequence[str], outputs: Sequence[str], *, name: str = "", **attributes: Any) -> Any:
    """Return a node, named after its first output unless ``name`` is given. ``domain`` is an attribute's equal."""
    return helper.make_node(kind, list(inputs), list(outputs), name=name or f"{kind}_{outputs[0]}", **attributes)


def value(name: str, shape: Sequence[Dim] | None, dtype: int = TensorProto.FLOAT) -> Any:
    """Return a graph input or output; ``shape`` None: of unknown rank."""
    return helper.make_tensor_value_info(name, dtype, shape)


def weight(seed: int, *shape: int) -> NDArray[np.float32]:
    """Return normal float32 weights, scaled by the fan-in so that activations stay near 1."""
    fan_in = max(1, int(np.prod(shape[1:])) if len(shape) == 4 else shape[0])
    drawn: NDArray[np.float32] = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    return drawn * np.float32(fan_in**-0.5)

"""Small real ONNX models, built in code: one function a model, each writes ``path`` and returns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

__all__ = ["conv_net", "embedding", "encoder", "mlp", "node", "save", "value", "weight", "with_external_data"]

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


def encoder(path: Path, batch: Dim = "N", length: Dim = "seq", width: int = 32, heads: int = 4) -> Path:
    """``ids[batch,length]`` int64 → one layer of a transformer, every part written out → ``y[batch,length,width]``.

    Written as exporters write it (attention without a mask, LayerNorm and GELU in pieces), for optimisers to find.
    """
    nodes = [
        node("Gather", ["table", "ids"], ["e"]),
        *_normalised("e", "x"),
        *_attention("x", "a"),
        node("Add", ["a", "x"], ["r0"]),
        *_normalised("r0", "h"),
        *_linear("h", "f0", "up"),
        *_gelu("f0", "f1"),
        *_linear("f1", "f2", "down"),
        node("Add", ["f2", "h"], ["r1"]),
        *_normalised("r1", "y"),
    ]
    matrices = {"q": (width, width), "k": (width, width), "v": (width, width), "o": (width, width)}
    matrices |= {"up": (width, 4 * width), "down": (4 * width, width)}
    weights: dict[str, NDArray[Any]] = {"table": weight(0, 64, width)}
    for seed, (name, shape) in enumerate(matrices.items()):
        weights |= {f"{name}_w": weight(seed + 1, *shape), f"{name}_b": 0.1 * weight(seed + 9, shape[1])}
    weights |= {name: np.array(number, np.float32) for name, number in _NUMBERS.items()}
    weights |= {"gain": np.ones(width, np.float32), "shift": np.zeros(width, np.float32)}
    weights |= {"root": np.array((width / heads) ** 0.5, np.float32)}
    weights |= {"split": np.array([0, 0, heads, width // heads]), "merge": np.array([0, 0, width])}
    inputs = [value("ids", [batch, length], TensorProto.INT64)]
    return save(path, nodes, inputs, [value("y", [batch, length, width])], weights, opset=14)


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


_NUMBERS = {"two": 2.0, "tiny": 1e-5, "half": 0.5, "one": 1.0, "sqrt2": 2**0.5}


def _linear(source: str, target: str, name: str) -> list[Any]:
    return [
        node("MatMul", [source, f"{name}_w"], [f"{target}_m"]),
        node("Add", [f"{target}_m", f"{name}_b"], [target]),
    ]


def _normalised(source: str, target: str) -> list[Any]:
    """LayerNorm over the last axis."""
    part = target.__add__
    return [
        node("ReduceMean", [source], [part("_mean")], axes=[-1]),
        node("Sub", [source, part("_mean")], [part("_d")]),
        node("Pow", [part("_d"), "two"], [part("_p")]),
        node("ReduceMean", [part("_p")], [part("_var")], axes=[-1]),
        node("Add", [part("_var"), "tiny"], [part("_ve")]),
        node("Sqrt", [part("_ve")], [part("_s")]),
        node("Div", [part("_d"), part("_s")], [part("_n")]),
        node("Mul", [part("_n"), "gain"], [part("_g")]),
        node("Add", [part("_g"), "shift"], [target]),
    ]


def _gelu(source: str, target: str) -> list[Any]:
    return [
        node("Div", [source, "sqrt2"], [f"{target}_d"]),
        node("Erf", [f"{target}_d"], [f"{target}_e"]),
        node("Add", [f"{target}_e", "one"], [f"{target}_a"]),
        node("Mul", [source, f"{target}_a"], [f"{target}_m"]),
        node("Mul", [f"{target}_m", "half"], [target]),
    ]


def _attention(source: str, target: str) -> list[Any]:
    """Scaled dot-product attention, with its output's linear layer."""
    turned = {"q": [0, 2, 1, 3], "k": [0, 2, 3, 1], "v": [0, 2, 1, 3]}
    split = [
        step
        for name, order in turned.items()
        for step in (
            *_linear(source, f"{name}0", name),
            node("Reshape", [f"{name}0", "split"], [f"{name}1"]),
            node("Transpose", [f"{name}1"], [f"{name}2"], perm=order),
        )
    ]
    return [
        *split,
        node("MatMul", ["q2", "k2"], ["s0"]),
        node("Div", ["s0", "root"], ["s1"]),
        node("Softmax", ["s1"], ["s2"], axis=-1),
        node("MatMul", ["s2", "v2"], ["c0"]),
        node("Transpose", ["c0"], ["c1"], perm=[0, 2, 1, 3]),
        node("Reshape", ["c1", "merge"], ["c2"]),
        *_linear("c2", target, "o"),
    ]

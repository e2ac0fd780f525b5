"""Models that broke other tools, built in code. Each function writes ``path`` and returns it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from autotune.testing.onnx_models import node, save, value, weight

__all__ = [
    "CASES",
    "bool_cast",
    "custom_op",
    "fixed_reshape",
    "future_ir",
    "future_opset",
    "half_input",
    "int_to_float",
    "matmul_in_branch",
    "nonzero",
    "old_opset",
    "overflowing_half",
    "qdq",
    "qoperator",
    "saturating",
    "shared_symbols",
    "strings",
    "twin_names",
    "weight_as_input",
]


def shared_symbols(path: Path) -> Path:
    """``a[N,S]`` and ``b[N,P]`` concatenated to ``y[N,S+P]``: N must be equal in both."""
    inputs = [value("a", ["N", "S"]), value("b", ["N", "P"])]
    return save(path, [node("Concat", ["a", "b"], ["y"], axis=1)], inputs, [value("y", ["N", "S+P"])])


def future_ir(path: Path) -> Path:
    """IR version 99: no runtime reads it."""
    return save(path, *_identity(), ir_version=99)


def future_opset(path: Path) -> Path:
    """Opset 99: no runtime knows it."""
    return save(path, *_identity(), opset=99)


def old_opset(path: Path) -> Path:
    """Opset 7, IR 3: a MatMul that quantisers convert silently. (In IR 3, initialisers are inputs too.)"""
    inputs = [value("x", ["N", 16]), value("w", [16, 4])]
    nodes = [node("MatMul", ["x", "w"], ["y"])]
    return save(path, nodes, inputs, [value("y", ["N", 4])], {"w": weight(0, 16, 4)}, opset=7, ir_version=3)


def strings(path: Path) -> Path:
    """``Identity`` on ``words[N]`` of strings."""
    return save(path, *_identity("words", ["N"], TensorProto.STRING))


def bool_cast(path: Path) -> Path:
    """``flags[N,4]`` bool → Cast to float → MatMul."""
    nodes = [node("Cast", ["flags"], ["f"], to=TensorProto.FLOAT), node("MatMul", ["f", "w"], ["y"])]
    inputs = [value("flags", ["N", 4], TensorProto.BOOL)]
    return save(path, nodes, inputs, [value("y", ["N", 3])], {"w": weight(0, 4, 3)})


def half_input(path: Path) -> Path:
    """``x[N,4]`` float16 → MatMul in float16."""
    half = TensorProto.FLOAT16
    weights = {"w": weight(0, 4, 3).astype(np.float16)}
    outputs = [value("y", ["N", 3], half)]
    return save(path, [node("MatMul", ["x", "w"], ["y"])], [value("x", ["N", 4], half)], outputs, weights)


def matmul_in_branch(path: Path) -> Path:
    """``If`` with a MatMul in one branch, an Identity in the other: quantisers find nothing to do."""
    then = helper.make_graph([node("MatMul", ["x", "w"], ["t"])], "then", [], [value("t", ["N", 4])])
    other = helper.make_graph([node("Identity", ["x"], ["e"])], "else", [], [value("e", ["N", 4])])
    nodes = [
        node("ReduceSum", ["x"], ["sum"], keepdims=0),
        node("Greater", ["sum", "zero"], ["positive"]),
        node("If", ["positive"], ["y"], then_branch=then, else_branch=other),
    ]
    weights = {"w": weight(0, 4, 4), "zero": np.array(0, np.float32)}
    return save(path, nodes, [value("x", ["N", 4])], [value("y", ["N", 4])], weights)


def fixed_reshape(path: Path) -> Path:
    """``x[N,4,4]`` → Reshape to a constant ``[1,16]``: N says batch, but 2 fails."""
    nodes = [node("Reshape", ["x", "shape"], ["r"]), node("MatMul", ["r", "w"], ["y"])]
    weights = {"shape": np.array([1, 16]), "w": weight(0, 16, 4)}
    return save(path, nodes, [value("x", ["N", 4, 4])], [value("y", ["N", 4])], weights)


def custom_op(path: Path) -> Path:
    """``acme::Foo`` followed by MatMul."""
    nodes = [node("Foo", ["x"], ["f"], domain="acme"), node("MatMul", ["f", "w"], ["y"])]
    weights = {"w": weight(0, 4, 3)}
    return save(path, nodes, [value("x", ["N", 4])], [value("y", ["N", 3])], weights, domains={"acme": 1})


def weight_as_input(path: Path) -> Path:
    """Initialiser ``w0`` is listed as a graph input too."""
    nodes = [node("MatMul", ["x", "w0"], ["y"])]
    inputs = [value("x", ["N", 4]), value("w0", [4, 3])]
    return save(path, nodes, inputs, [value("y", ["N", 3])], {"w0": weight(0, 4, 3)})


def twin_names(path: Path) -> Path:
    """Two MatMuls of one name."""
    nodes = [node("MatMul", ["x", "a"], ["h"], name="twin"), node("MatMul", ["h", "b"], ["y"], name="twin")]
    weights = {"a": weight(0, 8, 8), "b": weight(1, 8, 4)}
    return save(path, nodes, [value("x", ["N", 8])], [value("y", ["N", 4])], weights)


def qdq(path: Path) -> Path:
    """Already quantised: QuantizeLinear and DequantizeLinear around a MatMul."""
    nodes = [
        node("QuantizeLinear", ["x", "scale", "zero"], ["xq"]),
        node("DequantizeLinear", ["xq", "scale", "zero"], ["xd"]),
        node("DequantizeLinear", ["wq", "scale", "wzero"], ["wd"]),
        node("MatMul", ["xd", "wd"], ["y"]),
    ]
    return save(path, nodes, [value("x", ["N", 8])], [value("y", ["N", 4])], _quantised_weights())


def qoperator(path: Path) -> Path:
    """Already quantised: QLinearMatMul."""
    quantised = ["xq", "scale", "zero", "wq", "scale", "wzero", "scale", "zero"]
    nodes = [
        node("QuantizeLinear", ["x", "scale", "zero"], ["xq"]),
        node("QLinearMatMul", quantised, ["yq"]),
        node("DequantizeLinear", ["yq", "scale", "zero"], ["y"]),
    ]
    return save(path, nodes, [value("x", ["N", 8])], [value("y", ["N", 4])], _quantised_weights())


def overflowing_half(path: Path) -> Path:
    """``ReduceMean(x*x)``: inputs near 400 overflow float16."""
    nodes = [node("Mul", ["x", "x"], ["s"]), node("ReduceMean", ["s"], ["y"], axes=[1], keepdims=0)]
    return save(path, nodes, [value("x", ["N", 8])], [value("y", ["N"])])


def nonzero(path: Path) -> Path:
    """NonZero → Cast → Transpose → MatMul: shapes that no inference knows."""
    nodes = [
        node("NonZero", ["x"], ["z"]),
        node("Cast", ["z"], ["f"], to=TensorProto.FLOAT),
        node("Transpose", ["f"], ["t"]),
        node("MatMul", ["t", "w"], ["y"]),
    ]
    return save(path, nodes, [value("x", ["N", 4])], [value("y", ["found", 3])], {"w": weight(0, 2, 3)})


def saturating(path: Path) -> Path:
    """MatMul over K = 256 with weights of ±0.5: U8S8 saturates on CPUs without VNNI."""
    signs = np.where(np.random.default_rng(0).random((256, 16)) < 0.5, -0.5, 0.5).astype(np.float32)
    return save(
        path, [node("MatMul", ["x", "w"], ["y"])], [value("x", ["N", 256])], [value("y", ["N", 16])], {"w": signs}
    )


def int_to_float(path: Path) -> Path:
    """``ids[N,8]`` int64 → Cast to float → MatMul: float16 conversions leave mixed types."""
    nodes = [node("Cast", ["ids"], ["f"], to=TensorProto.FLOAT), node("MatMul", ["f", "w"], ["y"])]
    inputs = [value("ids", ["N", 8], TensorProto.INT64)]
    return save(path, nodes, inputs, [value("y", ["N", 4])], {"w": weight(0, 8, 4)})


CASES: dict[str, Callable[[Path], Path]] = {
    "H01": shared_symbols,
    "H04": future_ir,
    "H04 opset": future_opset,
    "H05": old_opset,
    "H06": strings,
    "H07": half_input,
    "H07 bool": bool_cast,
    "H08": matmul_in_branch,
    "H09": fixed_reshape,
    "H10": custom_op,
    "H11": weight_as_input,
    "H12": twin_names,
    "H13": qdq,
    "H13 qoperator": qoperator,
    "H14": overflowing_half,
    "H15": nonzero,
    "H16": saturating,
    "H17": int_to_float,
}
"""Builders by the name that the cases go by. (External data, H02 and H03, are in ``onnx_models``.)"""


def _identity(
    name: str = "x", shape: list[int | str | None] | None = None, dtype: int = TensorProto.FLOAT
) -> tuple[list[onnx.NodeProto], list[onnx.ValueInfoProto], list[onnx.ValueInfoProto]]:
    dims = shape or ["N", 4]
    return [node("Identity", [name], ["y"])], [value(name, dims, dtype)], [value("y", dims, dtype)]


def _quantised_weights() -> dict[str, np.ndarray]:
    return {
        "wq": np.random.default_rng(0).integers(-127, 127, (8, 4), dtype=np.int8),
        "scale": np.array(0.02, np.float32),
        "zero": np.array(128, np.uint8),
        "wzero": np.array(0, np.int8),
    }

"""Counts the floating-point (or integer) operations of matrix products, convolutions and recurrent layers.

A multiply-add is two operations. Everything else is bound by memory rather than arithmetic, and is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import Any, Final

from autotune.models.onnx_shapes import Shapes
from autotune.models.onnx_walk import subgraphs

__all__ = ["HEAVY", "count_flops", "node_flops"]


def count_flops(graph: Any, shapes: Shapes) -> float | None:
    """Return the operations of one run at ``shapes``; None when those of a heavy operator cannot be told.

    A heavy operator inside a sub-graph is unknown: how often it runs depends on the data.
    """
    total = 0.0
    for node in graph.node:
        if any(_has_heavy(inner.node) for inner in subgraphs(node)):
            return None
        if node.op_type in HEAVY:
            count = node_flops(node, shapes)
            if count is None:
                return None
            total += count
    return total


def _has_heavy(nodes: Iterable[Any]) -> bool:
    return any(node.op_type in HEAVY or any(_has_heavy(g.node) for g in subgraphs(node)) for node in nodes)


def node_flops(node: Any, shapes: Shapes) -> float | None:
    """Return the operations of one heavy node (its type is in ``HEAVY``); None when they cannot be told."""
    rule = HEAVY[node.op_type]
    try:
        return rule(node, shapes) if rule else None
    except (KeyError, IndexError, ValueError, ZeroDivisionError):  # a shape that is not known, or makes no sense
        return None


def _matmul(node: Any, shapes: Shapes) -> float:
    return 2.0 * prod(shapes[node.output[0]]) * shapes[node.input[0]][-1]


def _fused_matmul(node: Any, shapes: Shapes) -> float:
    inner = shapes[node.input[0]][-2 if _attribute(node, "transA", 0) else -1]
    return 2.0 * prod(shapes[node.output[0]]) * inner


def _einsum(node: Any, shapes: Shapes) -> float | None:
    """Of two operands: every combination of their indices is multiplied once. An ellipsis is not read."""
    equation = next((attribute.s.decode() for attribute in node.attribute if attribute.name == "equation"), "")
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    if len(terms) != 2 or "." in equation:
        return None
    sizes: dict[str, int] = {}
    for term, name in zip(terms, node.input, strict=True):
        sizes |= dict(zip(term, shapes[name], strict=True))
    return 2.0 * prod(sizes.values())


def _multi_head(node: Any, shapes: Shapes) -> float:
    """onnxruntime's, of query ``[batch,queries,hidden]``, key ``[batch,keys,hidden]`` and value: two products."""
    batch, queries, _ = shapes[node.input[0]]
    _, keys, width = shapes[node.input[1]]
    return 2.0 * batch * queries * keys * (width + shapes[node.input[2]][-1])


def _self_attention(node: Any, shapes: Shapes) -> float | None:
    """Onnxruntime's ``Attention`` of ``X[batch,length,in]`` and ``W[in,3*hidden]``; ONNX's own of that name is not counted."""
    if node.domain != "com.microsoft":
        return None
    batch, length, width = shapes[node.input[0]]
    tripled = shapes[node.input[1]][1]
    return 2.0 * batch * length * (width * tripled + 2 * length * tripled / 3)


def _gemm(node: Any, shapes: Shapes) -> float:
    inner = shapes[node.input[0]][0 if _attribute(node, "transA", 0) else 1]
    return 2.0 * prod(shapes[node.output[0]]) * inner


def _conv(weight: int) -> Callable[[Any, Shapes], float]:
    """``weight``: which input holds the kernel, ``[out, in / group, *kernel]``."""
    return lambda node, shapes: 2.0 * prod(shapes[node.output[0]]) * prod(shapes[node.input[weight]][1:])


def _conv_transpose(node: Any, shapes: Shapes) -> float:
    return 2.0 * prod(shapes[node.input[0]]) * prod(shapes[node.input[1]][1:])


def _recurrent(node: Any, shapes: Shapes) -> float:
    """``X[steps,batch,in]`` (either order of the first two), ``W[directions,gates*hidden,in]``, ``R[…,hidden]``."""
    steps, batch, _ = shapes[node.input[0]]
    return 2.0 * steps * batch * (prod(shapes[node.input[1]]) + prod(shapes[node.input[2]]))


def _attribute(node: Any, name: str, default: int) -> int:
    return next((int(attribute.i) for attribute in node.attribute if attribute.name == name), default)


HEAVY: Final[dict[str, Callable[[Any, Shapes], float | None] | None]] = {
    "MatMul": _matmul,
    "MatMulInteger": _matmul,
    "QLinearMatMul": _matmul,
    "MatMulNBits": _matmul,
    "FusedMatMul": _fused_matmul,
    "DynamicQuantizeMatMul": _matmul,
    "MatMulIntegerToFloat": _matmul,
    "Gemm": _gemm,
    "FusedGemm": _gemm,
    "QGemm": None,
    "Conv": _conv(1),
    "FusedConv": _conv(1),
    "ConvInteger": _conv(1),
    "QLinearConv": _conv(3),
    "ConvTranspose": _conv_transpose,
    "LSTM": _recurrent,
    "GRU": _recurrent,
    "RNN": _recurrent,
    "Einsum": _einsum,
    "Attention": _self_attention,
    "MultiHeadAttention": _multi_head,
    "GroupQueryAttention": None,
    "QAttention": None,
    "DeformConv": None,
    "MoE": None,
    "QMoE": None,
}
"""Operators that take most of a model's time, with how to count them; None: they are heavy, but cannot be counted here."""

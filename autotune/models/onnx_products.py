"""Heavy nodes as matrix products: which matrix every row of theirs is multiplied with."""

from __future__ import annotations

from math import prod
from typing import Any, Final

from autotune.core.graph_work import Family, Product
from autotune.models.onnx_flops import node_flops
from autotune.models.onnx_shapes import Shapes

__all__ = ["product_of"]

_KERNEL_AT: Final = {"Conv": 1, "FusedConv": 1, "ConvInteger": 1, "QLinearConv": 3, "DeformConv": 1}
_RECURRENT: Final = frozenset({"LSTM", "GRU", "RNN"})
_ATTENTION: Final = frozenset({"Attention", "MultiHeadAttention", "GroupQueryAttention", "QAttention"})


def product_of(node: Any, shapes: Shapes) -> Product | None:
    """Return the product of a heavy node (its type is in ``onnx_flops.HEAVY``); None when it cannot be counted."""
    flops = node_flops(node, shapes)
    if flops is None:
        return None
    if node.op_type in _KERNEL_AT:
        return _convolution(node, shapes, flops)
    if node.op_type == "ConvTranspose":
        kernel = shapes[node.input[1]]
        return Product("conv", flops, prod(kernel[1:]), max(1, kernel[0] // _group(node)))
    if node.op_type in _RECURRENT:
        return _recurrent(node, shapes, flops)
    written = shapes[node.output[0]]
    family: Family = "attention" if node.op_type in _ATTENTION else "gemm"
    inner = flops / 2.0 / max(1, prod(written))
    return Product(family, flops, written[-1] if written else 1, max(1, round(inner)))


def _convolution(node: Any, shapes: Shapes, flops: float) -> Product:
    """Kernel ``[out, in / group, *size]``: each group has a matrix of its own."""
    kernel = shapes[node.input[_KERNEL_AT[node.op_type]]]
    family: Family = "depthwise" if kernel[1] == 1 and _group(node) > 1 else "conv"
    return Product(family, flops, max(1, kernel[0] // _group(node)), prod(kernel[1:]))


def _recurrent(node: Any, shapes: Shapes, flops: float) -> Product:
    """``X[steps,batch,in]`` (batch first with ``layout`` 1), ``W[directions,gates*hidden,in]``, ``R[…,hidden]``."""
    steps = shapes[node.input[0]][_attribute(node, "layout", 0)]
    directions, gates, inputs = shapes[node.input[1]]
    return Product("recurrent", flops, gates, inputs + shapes[node.input[2]][-1], steps=max(1, steps * directions))


def _group(node: Any) -> int:
    return max(1, _attribute(node, "group", 1))


def _attribute(node: Any, name: str, default: int) -> int:
    return next((int(attribute.i) for attribute in node.attribute if attribute.name == name), default)

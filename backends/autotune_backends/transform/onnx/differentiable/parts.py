"""What of a graph depends on the weights that are trained, and what is the same whatever they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autotune_backends.transform.onnx.differentiable.call import Operator
from autotune_backends.transform.onnx.differentiable.pointwise import POINTWISE
from autotune_backends.transform.onnx.differentiable.products import PRODUCTS
from autotune_backends.transform.onnx.differentiable.reductions import REDUCTIONS
from autotune_backends.transform.onnx.differentiable.shapes import SHAPES
from autotune_backends.transform.onnx.differentiable.windows import WINDOWS
from autotune_backends.transform.onnx.graph import DEFAULT_DOMAIN, kind

__all__ = ["OPERATORS", "Parts", "split", "without_derivative"]

OPERATORS: Mapping[str, Operator] = {**POINTWISE, **PRODUCTS, **WINDOWS, **SHAPES, **REDUCTIONS}
"""Every operator that can be differentiated through, by name."""

_TRAINED = {
    "Conv": (1, 2),
    "Gemm": (1, 2),
    "MatMul": (0, 1),
    "LayerNormalization": (1, 2),
    "BatchNormalization": (1, 2),
}
"""Operator → positions of the inputs that are weights to train, where they are constants."""


@dataclass(frozen=True)
class Parts:
    """``trained``: names of constants. ``fixed`` and ``moving`` are positions of nodes, in the graph's order.

    ``given`` are the tensors that moving nodes read and fixed ones, or the inputs, make.
    """

    trained: tuple[str, ...]
    fixed: tuple[int, ...]
    moving: tuple[int, ...]
    given: tuple[str, ...]


def split(model: Any) -> Parts:
    """Split the main graph: moving nodes depend on a float32 weight of a product or a normalisation. Reads no weights."""
    trained = _trained(model)
    touched, moving = set(trained), list[int]()
    for index, node in enumerate(model.graph.node):
        if not touched.isdisjoint(node.input):
            moving.append(index)
            touched.update(node.output)
    constants = {weight.name for weight in model.graph.initializer}
    read = (name for index in moving for name in model.graph.node[index].input if name)
    given = dict.fromkeys(name for name in read if name not in touched and name not in constants)
    fixed = tuple(index for index in range(len(model.graph.node)) if index not in set(moving))
    return Parts(tuple(trained), fixed, tuple(moving), tuple(given))


def without_derivative(model: Any) -> Counter[str]:
    """Operators, by kind, that training would have to go through and that cannot be differentiated here."""
    inside = (model.graph.node[index] for index in split(model).moving)
    return Counter(kind(node) for node in inside if node.domain not in DEFAULT_DOMAIN or node.op_type not in OPERATORS)


def _trained(model: Any) -> dict[str, None]:
    """Weights of products and normalisations; of a sum, the constant that is one row: a bias."""
    from onnx import TensorProto

    floats = {one.name: list(one.dims) for one in model.graph.initializer if one.data_type == TensorProto.FLOAT}
    rows = {name for name, dims in floats.items() if len(dims) == 1 and dims[0] > 1}
    found: dict[str, None] = {}
    for node in model.graph.node:
        if node.domain in DEFAULT_DOMAIN:
            positions = _TRAINED.get(node.op_type, ())
            names = [node.input[position] for position in positions if position < len(node.input)]
            names += [name for name in node.input if node.op_type == "Add" and name in rows]
            found |= dict.fromkeys(name for name in names if name in floats)
    return found

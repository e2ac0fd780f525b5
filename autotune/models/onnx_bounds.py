"""Legal values of inputs that are ids: those that end up as indices into a constant table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

__all__ = ["id_bounds"]

_INDEXING: Final = {
    # operator: pairs of (input that is the table, input that is the index)
    "Gather": ((0, 1),),
    "GatherElements": ((0, 1),),
    "EmbedLayerNormalization": ((2, 0), (4, 1)),
}
_SAME_VALUES: Final = {
    "Cast",
    "Flatten",
    "Identity",
    "Reshape",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
    "Expand",
    "Tile",
    "Slice",
}
_SAME_SHAPE: Final = {"Cast", "DequantizeLinear", "Identity"}


def id_bounds(graph: Any) -> dict[str, tuple[float, float]]:
    """Return, for each tensor that indexes a constant table of n rows, ``(0, n - 1)``; the smallest table counts.

    An index is followed back through operators that keep values as they are (Cast, Reshape, …). Sub-graphs are not read.
    """
    makers = {output: node for node in graph.node for output in node.output}
    tables = _tables(graph)
    bounds: dict[str, tuple[float, float]] = {}
    for node in graph.node:
        for table, index in _indexed(node):
            rows = _rows(table, node, makers, tables)
            if rows:
                name = _origin(index, makers)
                bounds[name] = (0, min(rows - 1, bounds.get(name, (0, rows - 1))[1]))
    return bounds


def _tables(graph: Any) -> dict[str, list[int]]:
    """Shapes of constants by name."""
    shapes = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            values = [attribute.t for attribute in node.attribute if attribute.name == "value"]
            if values:
                shapes[node.output[0]] = list(values[0].dims)
    return shapes


def _indexed(node: Any) -> Iterator[tuple[str, str]]:
    for table, index in _INDEXING.get(node.op_type, ()):
        if max(table, index) < len(node.input) and node.input[table] and node.input[index]:
            yield node.input[table], node.input[index]


def _rows(table: str, node: Any, makers: dict[str, Any], tables: dict[str, list[int]]) -> int | None:
    while table not in tables and table in makers and makers[table].op_type in _SAME_SHAPE:
        table = makers[table].input[0]
    shape = tables.get(table)
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
    return shape[axis] if shape and -len(shape) <= axis < len(shape) else None


def _origin(name: str, makers: dict[str, Any]) -> str:
    while name in makers and makers[name].op_type in _SAME_VALUES:
        name = makers[name].input[0]
    return name

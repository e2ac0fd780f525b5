"""Sizes of axes: a number, a symbol, or an expression of symbols such as ``past + seq``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Final

__all__ = ["evaluate", "resized", "symbols_in"]

_OPERATIONS: Final[dict[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
}


def symbols_in(dim: int | str | None) -> list[str]:
    """The symbols of one axis: several when it is an expression such as ``past + seq``."""
    if not isinstance(dim, str):
        return []
    tree = _parse(dim)
    if tree is None:
        return [dim]
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return list(dict.fromkeys(names))


def evaluate(dim: int | str | None, sizes: Mapping[str, int]) -> int | None:
    """Size of an axis under ``sizes``; None when a symbol of it has none."""
    if dim is None or isinstance(dim, int):
        return dim
    if dim in sizes:
        return sizes[dim]
    tree = _parse(dim)
    return _value(tree, sizes) if tree is not None else None


def resized(sizes: Mapping[str, int], changes: Mapping[str, int]) -> dict[str, int]:
    """``sizes`` with other sizes for some symbols; those of expressions follow."""
    plain = {dim: size for dim, size in sizes.items() if symbols_in(dim) == [dim]} | dict(changes)
    derived = {dim: evaluate(dim, plain) for dim in sizes if dim not in plain}
    return plain | {dim: size for dim, size in derived.items() if size is not None}


def _parse(dim: str) -> ast.expr | None:
    """The expression that ``dim`` is, None when it is an opaque name (``x.2``, ``dynamic axis``)."""
    try:
        tree = ast.parse(dim, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    allowed = (ast.BinOp, ast.Name, ast.Constant, ast.Load, *_OPERATIONS)
    return tree if all(isinstance(node, allowed) for node in ast.walk(tree)) else None


def _value(tree: ast.expr, sizes: Mapping[str, int]) -> int | None:
    if isinstance(tree, ast.Constant):
        return tree.value if isinstance(tree.value, int) else None
    if isinstance(tree, ast.Name):
        return sizes.get(tree.id)
    if not isinstance(tree, ast.BinOp):
        return None
    left, right = _value(tree.left, sizes), _value(tree.right, sizes)
    if left is None or right is None or (right == 0 and isinstance(tree.op, ast.Div | ast.FloorDiv)):
        return None
    return _OPERATIONS[type(tree.op)](left, right)

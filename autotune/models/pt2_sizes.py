"""A program's sizes, in names and notation that people write."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final

__all__ = ["named_axes", "plain_size", "renamed"]

_INFIX: Final[dict[str, ast.operator]] = {
    "Add": ast.Add(),
    "Mul": ast.Mult(),
    "Pow": ast.Pow(),
    "FloorDiv": ast.FloorDiv(),
}


def plain_size(expression: str) -> str:
    """An expression as the file has it (``sympy.srepr``'s form) as Python writes it.

    ``Add(Symbol('s40', positive=True, integer=True), Integer(1))`` → ``s40 + 1``; unknown functions stay. Raises ``SyntaxError``.
    """
    return ast.unparse(_Plain().visit(ast.parse(expression, mode="eval")))


def named_axes(shapes: Mapping[str, Sequence[int | str]]) -> dict[str, str]:
    """The file's symbols (``s77``) → names: ``batch`` for the first axis of every input, else input and axis (``ids_1``).

    The names that the axes had when the program was exported are not in the file. ``shapes`` of the inputs by name. A symbol is
    named after the first axis that it is the size of.
    """
    firsts = {shape[0] if shape else None for shape in shapes.values()}
    first = next(iter(firsts)) if len(firsts) == 1 else None
    names: dict[str, str] = {}
    for name, shape in shapes.items():
        for axis, size in enumerate(shape):
            if isinstance(size, str) and size.isidentifier():
                names.setdefault(size, "batch" if size == first else f"{name}_{axis}")
    return names


def renamed(size: str, names: Mapping[str, str]) -> str:
    """A plain size with its symbols' names."""
    tree = ast.parse(size, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return ast.unparse(tree)


class _Plain(ast.NodeTransformer):
    """Calls of sympy's constructors → names, numbers and operators."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called == "Symbol" and isinstance(node.args[0], ast.Constant):
            return ast.Name(str(node.args[0].value), ast.Load())
        if called in ("Integer", "Identity") and len(node.args) == 1:
            return node.args[0]
        if called in _INFIX and len(node.args) > 1:
            return reduce(lambda left, right: ast.BinOp(left, _INFIX[called], right), node.args)
        return node

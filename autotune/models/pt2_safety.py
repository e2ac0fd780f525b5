"""What a graph may say: operators of PyTorch's own, and arithmetic of sizes, as ``sympy.srepr`` writes it.

PyTorch looks the first up by ``getattr`` from its own module on, and hands the second to Python's ``eval``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, Final

from autotune.models.pt2_archive import unsafe

__all__ = ["refuse_code"]

_OPERATOR: Final = re.compile(
    r"torch\.ops\.(aten|prims|higher_order|quantized_decomposed)\.(?!from_file|save)[a-z_]\w*(\.\w+)?"
    r"|_operator\.[a-z_]{2,9}|math\.trunc|torch\.sym_[a-z]{2,5}",
    re.IGNORECASE,
)
"""``from_file`` and ``save`` read and write files."""
_SYMBOL: Final = re.compile(r"[a-z]{1,4}\d{1,9}")
_FUNCTION: Final = re.compile(
    "Add|Integer|Mul|Pow|Rational|Float|CeilDiv|CeilToInt|CleanDiv|Eq|FloatPow|FloatTrueDiv|FloorDiv|FloorToInt|Ge|Gt|Identity"
    "|IntTrueDiv|LShift|Le|Lt|Max|Min|Mod|ModularIndexing|Ne|PowByNatural|PythonMod|RShift|RoundDecimal|RoundToInt|ToFloat"
    "|TruncToFloat|TruncToInt|Where"
)
_NAME: Final = re.compile(f"{_SYMBOL.pattern}|{_FUNCTION.pattern}|Symbol|True|False|oo|int_oo")
_ARITHMETIC: Final = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
_LONGEST: Final = 2000  # characters of an expression
_POWERS: Final = frozenset({"2", "3", "Integer(2)", "Integer(3)"})  # sizes to high powers would take for ever


def refuse_code(program: dict[str, Any], name: str) -> None:
    """Raise ``UserError`` when loading ``program`` could run anything but PyTorch's own operators."""
    for found in _mappings(program):
        for key in ("target", "as_operator"):
            if key in found and not _OPERATOR.fullmatch(str(found[key])):
                raise unsafe(name, f"{str(found[key])[:80]!r} is none of PyTorch's own operators")
        if "expr_str" in found and not _is_arithmetic(found["expr_str"]):
            raise unsafe(name, f"{str(found['expr_str'])[:80]!r} is not the size of an axis")
        if "class_fqn" in found or found.get("as_custom_obj"):
            raise unsafe(name, "it holds objects that are no tensors")
    for symbol in program.get("range_constraints") or ():
        if not _is_arithmetic(symbol):
            raise unsafe(name, f"{str(symbol)[:80]!r} is not the size of an axis")


def _mappings(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping inside, without recursion: the file says how deep it goes."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            yield found
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)


def _is_arithmetic(text: object) -> bool:
    if not isinstance(text, str) or len(text) > _LONGEST:
        return False
    try:
        tree = ast.parse(text, mode="eval").body
        return all(_is_allowed(node) for node in ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _is_allowed(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name):
            allowed = bool(_NAME.fullmatch(name))
        case ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str(symbol))]):
            allowed = bool(_SYMBOL.fullmatch(symbol))
        case ast.Call(func=ast.Name(id="Pow"), args=[_, power]) | ast.BinOp(op=ast.Pow(), right=power):
            allowed = ast.unparse(power) in _POWERS
        case ast.Call(func=ast.Name(id=called), keywords=[]):
            allowed = bool(_FUNCTION.fullmatch(called))
        case ast.keyword():
            allowed = isinstance(node.value, ast.Constant)
        case ast.Constant():
            allowed = type(node.value) in (int, float, bool) or bool(_SYMBOL.fullmatch(str(node.value)))
        case _:
            allowed = isinstance(node, (*_ARITHMETIC, ast.Load))
    return allowed

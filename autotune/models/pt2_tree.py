"""Names for a program's outputs, from the description of the structure that it returns them in.

The description is PyTorch's serialised ``TreeSpec`` (torch/utils/_pytree.py, protocol 1): JSON of types, contexts and children.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["call_spec", "leaf_names", "mapping_spec"]

_PROTOCOL = 1
_LEAF: dict[str, Any] = {"type": None, "context": None, "children_spec": []}


def leaf_names(spec: str) -> list[str]:
    """A name for each leaf, in order: ``logits`` in a mapping, ``output_1`` in a tuple, ``output`` alone. Names differ.

    Raises ``ValueError``, ``KeyError`` or ``TypeError`` when it is no such description.
    """
    _, tree = json.loads(spec)
    names = [_joined(path) for path in _paths(tree, ())]
    seen: Counter[str] = Counter()
    for position, name in enumerate(names):
        seen[name] += 1
        names[position] = name if seen[name] == 1 else f"{name}_{seen[name]}"
    return names


def mapping_spec(names: Sequence[str]) -> str:
    """The description of a flat mapping with these keys."""
    return json.dumps([_PROTOCOL, _mapping(names)])


def call_spec(count: int) -> str:
    """The description of a call with so many positional arguments."""
    arguments = _node("builtins.tuple", None, [_LEAF] * count)
    return json.dumps([_PROTOCOL, _node("builtins.tuple", None, [arguments, _mapping([])])])


def _mapping(names: Sequence[str]) -> dict[str, Any]:
    return _node("builtins.dict", list(names), [_LEAF] * len(names))


def _node(kind: str, context: Any, children: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": kind, "context": json.dumps(context), "children_spec": children}


def _paths(tree: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    children = tree["children_spec"]
    if tree["type"] is None:
        yield path
        return
    for key, child in zip(_keys(tree["context"], len(children)), children, strict=True):
        yield from _paths(child, (*path, key))


def _keys(context: Any, count: int) -> list[str]:
    """The keys of a mapping; else positions."""
    found = json.loads(context) if isinstance(context, str) else context
    if isinstance(found, list) and len(found) == count and all(isinstance(key, str | int) for key in found):
        return [str(key) for key in found]
    return [str(position) for position in range(count)]


def _joined(path: tuple[str, ...]) -> str:
    whole = "_".join(path)
    return f"output_{whole}" if whole[:1].isdigit() else whole or "output"

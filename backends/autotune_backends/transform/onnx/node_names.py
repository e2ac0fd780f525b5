"""Gives every node a name of its own. Two of one name pass onnx's checker, and onnxruntime refuses them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotune_backends.transform.onnx.graph import graphs

__all__ = ["fresh_names", "rename_nodes"]


def fresh_names(names: Sequence[str], *, unnamed: bool) -> dict[int, str]:
    """Return a new name for each position whose name was taken by an earlier one.

    ``unnamed``: empty names get one too (``node_N``); otherwise they stay empty, which onnxruntime accepts.
    """
    taken, seen, fresh = set(names), set[str](), dict[int, str]()
    for position, name in enumerate(names):
        if name and name not in seen:
            seen.add(name)
        elif name or unnamed:
            fresh[position] = _unused(name or f"node_{position}", taken)
            taken.add(fresh[position])
    return fresh


def rename_nodes(model: Any, *, unnamed: bool) -> dict[str, str]:
    """Rename in place, graph by graph; return new name → old name (empty: there was none)."""
    renamed: dict[str, str] = {}
    for graph in graphs(model.graph):
        names = [node.name for node in graph.node]
        for position, name in fresh_names(names, unnamed=unnamed).items():
            graph.node[position].name = name
            renamed[name] = names[position]
    return renamed


def _unused(wanted: str, taken: set[str]) -> str:
    candidates = [wanted, *(f"{wanted}_{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in candidates if name not in taken)

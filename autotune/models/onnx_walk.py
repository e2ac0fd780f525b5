"""Every node and every tensor of a model, those of sub-graphs and local functions included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["all_nodes", "all_tensors", "outer_names", "subgraphs"]


def all_nodes(model: Any) -> Iterator[Any]:
    """Each ``NodeProto`` of the graph, of its sub-graphs, and of the model's local functions."""
    yield from _nodes(model.graph.node)
    for function in model.functions:
        yield from _nodes(function.node)


def all_tensors(model: Any) -> Iterator[Any]:
    """Each ``TensorProto``: initialisers, sparse ones' parts, and attributes of nodes."""
    graphs = [model.graph, *(graph for node in all_nodes(model) for graph in subgraphs(node))]
    for graph in graphs:
        yield from graph.initializer
        yield from _parts(graph.sparse_initializer)
    for node in all_nodes(model):
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            yield from _parts([attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else [])


def subgraphs(node: Any) -> Iterator[Any]:
    """The graphs that are attributes of ``node`` (the branches of If, the bodies of Loop and Scan)."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def outer_names(node: Any) -> set[str]:
    """Names that ``node`` reads: its inputs, and what its sub-graphs capture."""
    names = set(node.input)
    for graph in subgraphs(node):
        for inner in graph.node:
            names |= outer_names(inner)
    return names - {""}


def _nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    for node in nodes:
        yield node
        for graph in subgraphs(node):
            yield from _nodes(graph.node)


def _parts(sparse: Iterable[Any]) -> Iterator[Any]:
    for tensor in sparse:
        yield tensor.values
        yield tensor.indices

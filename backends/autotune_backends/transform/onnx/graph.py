"""Reading a graph without its weights: what every transformation looks at first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = [
    "DEFAULT_DOMAIN",
    "external_files",
    "graphs",
    "interface",
    "kind",
    "load_graph",
    "nodes",
    "opset",
    "same_kind",
    "size_bytes",
]

DEFAULT_DOMAIN = ("", "ai.onnx")


def load_graph(path: Path) -> Any:
    """Return the ``ModelProto``; weights in external data stay on disk."""
    import onnx

    return onnx.load(str(path), load_external_data=False)


def graphs(graph: Any) -> Iterator[Any]:
    """The graph itself and every graph inside it (branches, loop bodies)."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            inner = [attribute.g] if attribute.HasField("g") else []
            for found in (*inner, *attribute.graphs):
                yield from graphs(found)


def nodes(graph: Any) -> Iterator[Any]:
    """Nodes of a graph and of every graph inside it."""
    for found in graphs(graph):
        yield from found.node


def kind(node: Any) -> str:
    """``domain::type``; the default domain has no prefix, as in ``ModelFacts.operators``."""
    return str(node.op_type) if node.domain in DEFAULT_DOMAIN else f"{node.domain}::{node.op_type}"


def opset(model: Any) -> int | None:
    """Version of the default operator set; None when the model imports none."""
    return next((int(entry.version) for entry in model.opset_import if entry.domain in DEFAULT_DOMAIN), None)


def external_files(model: Any) -> tuple[str, ...]:
    """Files that hold weights, relative to the model's folder, sorted."""
    from onnx.external_data_helper import ExternalDataInfo, uses_external_data

    return tuple(
        sorted({str(ExternalDataInfo(tensor).location) for tensor in _tensors(model) if uses_external_data(tensor)})
    )


def interface(model: Any) -> dict[str, bytes]:
    """What goes in and out: ``input x`` or ``output y`` → its type without the shape, as tools write shapes as they know them.

    Weights that are listed as inputs do not count. An unknown type is empty.
    """
    weights = {weight.name for weight in model.graph.initializer}
    inputs = {f"input {one.name}": _kind(one) for one in model.graph.input if one.name not in weights}
    return inputs | {f"output {one.name}": _kind(one) for one in model.graph.output}


def same_kind(before: bytes | None, after: bytes | None) -> bool:
    """Whether two entries of an interface agree; None: there is none. A type that was unknown may have become known."""
    return before is not None and after is not None and (not before or before == after)


def size_bytes(path: Path, model: Any) -> int:
    """Bytes of the model at ``path``, read as ``model``, and of its external data."""
    files = (path, *(path.parent / name for name in external_files(model)))
    return sum(file.stat().st_size for file in files)


def _tensors(model: Any) -> Iterator[Any]:
    for graph in graphs(model.graph):
        yield from graph.initializer
        for node in graph.node:
            yield from (attribute.t for attribute in node.attribute if attribute.HasField("t"))


def _kind(value: Any) -> bytes:
    bare = type(value.type)()
    bare.CopyFrom(value.type)
    if bare.HasField("tensor_type"):
        bare.tensor_type.ClearField("shape")
    return bytes(bare.SerializeToString(deterministic=True))

"""Reads what each node of an ONNX graph computes and moves, after shape inference at concrete sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

from autotune.core.errors import UserError
from autotune.core.graph_work import GraphWork, Kind, NodeWork, TensorSize, Unpriced
from autotune.core.model import TensorFacts
from autotune.models.onnx_flops import HEAVY
from autotune.models.onnx_products import product_of
from autotune.models.onnx_settled import settled
from autotune.models.onnx_shapes import Inferred, Shapes
from autotune.models.onnx_types import bits
from autotune.models.onnx_walk import subgraphs

__all__ = ["graph_work"]

_RENAMES: Final = frozenset({"Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
_SIZES: Final = frozenset({"Shape", "Size"})
_RANDOM: Final = frozenset({"Bernoulli", "Multinomial", "RandomNormal", "RandomUniform"})
_REDUCTIONS: Final = frozenset(
    {
        *("ArgMax", "ArgMin", "CumSum", "GroupNormalization", "Hardmax", "InstanceNormalization", "LRN"),
        *("LayerNormalization", "LogSoftmax", "LpNormalization", "MeanVarianceNormalization", "RMSNormalization"),
        *("SimplifiedLayerNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "Softmax"),
        *("AveragePool", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "LpPool", "MaxPool"),
    }
)
_MOVES: Final = frozenset(
    {
        *("Col2Im", "Compress", "Concat", "ConstantOfShape", "DepthToSpace", "EmbedLayerNormalization", "Expand"),
        *(
            "Gather",
            "GatherElements",
            "GatherND",
            "GridSample",
            "NonMaxSuppression",
            "NonZero",
            "OneHot",
            "Pad",
            "Range",
        ),
        *("Resize", "ReverseSequence", "RoiAlign", "ScatterElements", "ScatterND", "Slice", "SpaceToDepth", "Split"),
        *("Tile", "TopK", "Transpose", "Unique", "Upsample"),
    }
)
_READ_IN_PART: Final = frozenset({"Gather", "GatherElements", "GatherND", "Slice", "EmbedLayerNormalization"})
"""Of their first input no more than what they write is read: rows of a table."""


def graph_work(model: Any, inputs: Sequence[TensorFacts], dims: Mapping[str, int]) -> GraphWork:
    """Return the work of one run of the ``onnx.ModelProto``; ``inputs`` are its facts, ``dims`` the size of each symbol.

    A node is unpriced when a shape of it is not known even then, when it holds a sub-graph (how often that runs depends on
    the data), or when it is a heavy operator that cannot be counted. Local functions are inlined first.
    """
    if model.functions:
        from onnx.inliner import inline_local_functions

        model = inline_local_functions(model)
    graph, tensors, constants = settled(model, inputs, dims)
    reading = _Reading(tensors, set(constants))
    for node in graph.node:
        reading.take(node)
    return GraphWork(
        nodes=tuple(reading.nodes),
        tensors=reading.sizes,
        inputs=tuple(one.name for one in inputs),
        outputs=tuple(reading.origin(value.name) for value in graph.output),
        unpriced=tuple(reading.unpriced),
    )


@dataclass
class _Reading:
    """A walk through the nodes in order. ``same``: what a tensor is only another name for."""

    known: Mapping[str, Inferred]
    constants: set[str]
    same: dict[str, str] = field(default_factory=dict)
    nodes: list[NodeWork] = field(default_factory=list)
    unpriced: list[Unpriced] = field(default_factory=list)
    sizes: dict[str, TensorSize] = field(default_factory=dict)

    def origin(self, name: str) -> str:
        return self.same.get(name, name)

    def take(self, node: Any) -> None:
        """Look at the next node."""
        if self._folds(node):
            self.constants.update(node.output)
        elif node.op_type in _RENAMES and node.input[0] not in self.constants:
            self.same[node.output[0]] = self.origin(node.input[0])
        elif (reason := self._fault(node)) is not None:
            self.unpriced.append(Unpriced(node.name, node.op_type, reason))
        else:
            self.nodes.append(self._work(node))

    def _folds(self, node: Any) -> bool:
        """Whether it gives the same whatever the inputs hold."""
        if node.op_type in _SIZES:
            return node.input[0] in self.known
        if node.op_type.removesuffix("Like") in _RANDOM or any(subgraphs(node)):
            return False
        return all(name in self.constants for name in node.input if name)

    def _fault(self, node: Any) -> str | None:
        if any(subgraphs(node)):
            return "how often its sub-graph runs depends on the data"
        if not all(name in self.known for name in (*node.output[:1], *node.input) if name):
            return "a shape of it depends on the data, or these sizes do not fit (--dim sets them)"
        if node.op_type in HEAVY and product_of(node, self._shapes_of(node)) is None:
            return "its operations cannot be counted"
        return None

    def _work(self, node: Any) -> NodeWork:
        written = [name for name in node.output if name in self.known]
        self._note(written)
        moved = dict(self._read(node, sum(self.sizes[name].values for name in written)))
        self._note(moved)
        return NodeWork(
            name=node.name or node.output[0],
            operator=node.op_type,
            kind=_kind(node.op_type),
            reads={self.origin(name): count for name, count in moved.items() if name not in self.constants},
            weights={name: count for name, count in moved.items() if name in self.constants},
            writes=tuple(written),
            product=product_of(node, self._shapes_of(node)) if node.op_type in HEAVY else None,
        )

    def _read(self, node: Any, written: int) -> Iterator[tuple[str, int]]:
        """Each input, and how many values of it are read."""
        for place, name in enumerate(node.input):
            if name in self.known:
                whole = prod(self.known[name].shape)
                part = place == 0 and node.op_type in _READ_IN_PART
                yield name, min(whole, written) if part else whole

    def _shapes_of(self, node: Any) -> Shapes:
        return {name: self.known[name].shape for name in (*node.input, *node.output) if name in self.known}

    def _note(self, names: Iterable[str]) -> None:
        for name in names:
            size = _size(self.known[name])
            self.sizes[name] = size
            self.sizes[self.origin(name)] = size


def _kind(operator: str) -> Kind:
    if operator in HEAVY:
        return "product"
    if operator in _REDUCTIONS or operator.startswith("Reduce"):
        return "reduction"
    return "move" if operator in _MOVES else "pointwise"


def _size(tensor: Inferred) -> TensorSize:
    from onnx import TensorProto

    floats = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)
    try:
        wide = bits(tensor.code)
    except UserError:  # a type that the installed onnx does not know
        wide = 32
    return TensorSize(prod(tensor.shape), wide, tensor.code in floats)

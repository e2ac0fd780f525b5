"""Nodes as the kernels that are made of them: what follows a product is folded into it, chains become one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from autotune.core.graph_work import GraphWork, NodeWork, Product

__all__ = ["Fusion", "Kernel", "kernels_of", "peak_values"]

Fusion = Literal["compiler", "runtime", "none"]

_EPILOGUES: Final = frozenset(
    {"Add", "BatchNormalization", "Clip", "HardSigmoid", "LeakyRelu", "Relu", "Sigmoid", "Tanh"}
)
_PATTERNS: Final = frozenset({"Erf", "ReduceMean", "Sigmoid"})
"""onnxruntime's optimisers on the CPU know what may follow a convolution or a product, and few chains beside: GELU, a layer
normalisation in pieces, x * sigmoid(x). These operators mark them."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """Nodes that are launched at once. ``reads``, ``weights``: values of each tensor that come from memory; ``writes``: that
    go there. What passes between its own nodes does neither.
    """

    nodes: tuple[NodeWork, ...]
    reads: Mapping[str, int]
    weights: Mapping[str, int]
    writes: tuple[str, ...]

    @property
    def product(self) -> Product | None:
        """The product that it computes, if any; a kernel has one at most."""
        return self.nodes[0].product

    @property
    def product_weights(self) -> frozenset[str]:
        """Constants that its product is with: those that a narrower format shrinks."""
        return frozenset(self.nodes[0].weights if self.product is not None else ())


@dataclass
class _Group:
    """A kernel that is being made. ``space``: values that its nodes run over."""

    nodes: list[NodeWork]
    space: int
    written: set[str] = field(default_factory=set)

    def takes(self, node: NodeWork, values: int) -> bool:
        """Whether ``node``, which runs over ``values``, can be computed with what is there already."""
        if values > self.space or node.kind in ("product", "move"):
            return False
        return node.kind == "pointwise" or self.nodes[0].product is None

    def knows(self, node: NodeWork, readers: Mapping[str, int]) -> bool:
        """Whether an optimiser that goes by patterns does so. ``readers``: how many nodes read each tensor."""
        if self.nodes[0].product is not None:
            return node.operator in _EPILOGUES and all(readers[name] == 1 for name in self.nodes[-1].writes)
        return any(one.operator in _PATTERNS for one in (*self.nodes, node))


def kernels_of(work: GraphWork, fusion: Fusion = "compiler") -> tuple[Kernel, ...]:
    """The graph's kernels, in an order in which they can run.

    A pointwise node joins the kernel that makes one of its inputs, if it runs over no more values than that does; a
    reduction (softmax, a mean, a normalisation) joins one without a product, since a product's tiles do not hold whole rows.
    Of several it joins the last that was begun: then no kernel ever waits for a later one. A ``runtime`` folds only what its
    patterns know; with ``none``, each node is a kernel.
    """
    readers = Counter(name for node in work.nodes for name in node.reads)
    groups: list[_Group] = []
    made_by: dict[str, int] = {}
    for node in work.nodes:
        values = _space(work, node)
        last = max((made_by[name] for name in node.reads if name in made_by), default=None)
        joins = fusion != "none" and last is not None and groups[last].takes(node, values)
        if joins and last is not None and (fusion == "compiler" or groups[last].knows(node, readers)):
            groups[last].nodes.append(node)
        else:
            groups.append(_Group([node], values))
            last = len(groups) - 1
        groups[last].written.update(node.writes)
        made_by.update(dict.fromkeys(node.writes, last))
    return tuple(_kernel(group, wanted) for group, wanted in zip(groups, _wanted(work, groups), strict=True))


def peak_values(work: GraphWork, kernels: Sequence[Kernel]) -> dict[str, int]:
    """Tensors that are alive at once when that is most, by name → values: inputs until they are last read, outputs to the end."""
    last = {name: place for place, kernel in enumerate(kernels) for name in kernel.reads}
    last |= dict.fromkeys(work.outputs, len(kernels))
    alive = {name: work.tensors[name].values for name in work.inputs if name in work.tensors}
    most, peak = 0, dict(alive)
    for place, kernel in enumerate(kernels):
        alive |= {name: work.tensors[name].values for name in kernel.writes}
        now = sum(alive[name] * work.tensors[name].bits for name in alive)
        if now > most:
            most, peak = now, dict(alive)
        alive = {name: size for name, size in alive.items() if last.get(name, -1) > place}
    return peak


def _space(work: GraphWork, node: NodeWork) -> int:
    """What it runs over: what it writes, and for a reduction what it reads."""
    written = sum(work.tensors[name].values for name in node.writes)
    return max(written, *node.reads.values(), 0) if node.kind == "reduction" else written


def _wanted(work: GraphWork, groups: Sequence[_Group]) -> list[frozenset[str]]:
    """Of each group, what is read by another, or is an output of the graph."""
    outputs = frozenset(work.outputs)
    readers: dict[str, set[int]] = {}
    for place, group in enumerate(groups):
        for node in group.nodes:
            for name in node.reads:
                readers.setdefault(name, set()).add(place)
    return [
        frozenset(name for name in group.written if name in outputs or readers.get(name, set()) - {place})
        for place, group in enumerate(groups)
    ]


def _kernel(group: _Group, wanted: frozenset[str]) -> Kernel:
    return Kernel(
        nodes=tuple(group.nodes),
        reads=_most((name, n) for node in group.nodes for name, n in node.reads.items() if name not in group.written),
        weights=_most((name, n) for node in group.nodes for name, n in node.weights.items()),
        writes=tuple(name for node in group.nodes for name in node.writes if name in wanted),
    )


def _most(accesses: Iterable[tuple[str, int]]) -> dict[str, int]:
    """A tensor that several nodes of a kernel read comes from memory once."""
    found: dict[str, int] = {}
    for name, values in accesses:
        found[name] = max(values, found.get(name, 0))
    return found

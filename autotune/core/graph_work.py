"""What each node of a graph computes and moves at given sizes: what devices are priced by that nobody here owns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["Family", "GraphWork", "Kind", "NodeWork", "Product", "TensorSize", "Unpriced"]

Kind = Literal["product", "pointwise", "reduction", "move"]
Family = Literal["gemm", "conv", "depthwise", "recurrent", "attention"]


@dataclass(frozen=True, slots=True)
class TensorSize:
    """``values`` of ``bits`` each, as the file has them. ``floating``: another number format changes their size."""

    values: int
    bits: int
    floating: bool


@dataclass(frozen=True, slots=True)
class Product:
    """A matrix product, or what is computed as one: ``flops`` with a multiply-add as two.

    ``outputs`` × ``inputs`` is the matrix that every row is multiplied with (of a convolution, of one group).
    ``steps``: how many of them follow each other, each needing the last one's result (a recurrent layer's).
    """

    family: Family
    flops: float
    outputs: int
    inputs: int
    steps: int = 1


@dataclass(frozen=True, slots=True)
class NodeWork:
    """One node. ``reads`` and ``weights``: values read of each activation and of each constant; ``writes``: tensors.

    ``product`` None: it is bound by memory.
    """

    name: str
    operator: str
    kind: Kind
    reads: Mapping[str, int]
    weights: Mapping[str, int]
    writes: tuple[str, ...]
    product: Product | None = None


@dataclass(frozen=True, slots=True)
class Unpriced:
    """A node that runs, and of which it is not known what it costs: ``reason``."""

    name: str
    operator: str
    reason: str


@dataclass(frozen=True)
class GraphWork:
    """The nodes that run, in order: not those that are folded into constants, or that only rename what is there.

    ``tensors`` has the size of everything that they read or write; ``inputs`` and ``outputs`` are the graph's own.
    """

    nodes: tuple[NodeWork, ...]
    tensors: Mapping[str, TensorSize]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    unpriced: tuple[Unpriced, ...]

    @property
    def flops(self) -> float:
        """Operations of all products that are known."""
        return sum(node.product.flops for node in self.nodes if node.product is not None)

    @property
    def unpriced_share(self) -> float:
        """Of the nodes that run, 0 to 1."""
        return len(self.unpriced) / max(1, len(self.unpriced) + len(self.nodes))

    @property
    def weights(self) -> dict[str, TensorSize]:
        """Constants that are read when it runs, each once."""
        return {name: self.tensors[name] for node in self.nodes for name in node.weights if name in self.tensors}

"""A model's graph at a batch size and sizes of its other symbols, read once in a process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from autotune.core.dimensions import resized
from autotune.core.graph_work import GraphWork
from autotune.core.model import ModelFacts, TensorFacts
from autotune_backends.simulated.graphs.kernels import Fusion, Kernel, kernels_of

__all__ = ["Graph", "graph_of", "unbatched"]


@dataclass(frozen=True)
class Graph:
    """One run's work, and the kernels that it makes, kept once they are known."""

    work: GraphWork
    _made: dict[Fusion, tuple[Kernel, ...]] = field(default_factory=dict, repr=False, compare=False)

    def kernels(self, fusion: Fusion) -> tuple[Kernel, ...]:
        """In an order in which they can run."""
        if fusion not in self._made:
            self._made[fusion] = kernels_of(self.work, fusion)
        return self._made[fusion]


def graph_of(model: ModelFacts, batch: int = 1, dims: Mapping[str, int] | None = None) -> Graph:
    """The graph at ``batch`` samples; ``dims`` are sizes other than the model's own. Raises ``UserError``."""
    changes = dict(dims or {}) | ({model.batch.symbol: batch} if model.batch.symbol else {})
    sizes = resized(model.dims, changes)
    return _read(model.path, model.sha256, model.inputs, tuple(sorted(sizes.items())))


def unbatched(model: ModelFacts) -> str | None:
    """Why the model takes one sample at a time; None when shapes say that it takes several. Nothing is run."""
    if model.batch.symbol is None:
        return model.batch.reason
    one, two = graph_of(model).work, graph_of(model, 2).work
    for name in one.outputs:
        single, double = one.tensors.get(name), two.tensors.get(name)
        if single is None or double is None:
            return f"the shape of output {name!r} is not known with two samples"
        if double.values != 2 * single.values:
            return f"output {name!r} does not grow with the samples"
    return None


@lru_cache(maxsize=64)
def _read(path: Path, sha256: str, inputs: tuple[TensorFacts, ...], dims: tuple[tuple[str, int], ...]) -> Graph:
    from autotune.models.onnx_work import graph_work

    return Graph(graph_work(_proto(path, sha256), inputs, dict(dims)))


@lru_cache(maxsize=2)
def _proto(path: Path, sha256: str) -> Any:  # noqa: ARG001  # the key: a file that changed is read again
    from autotune.models.onnx_file import load_proto

    return load_proto(path)

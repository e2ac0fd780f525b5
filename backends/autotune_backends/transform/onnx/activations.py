"""What the calibration data say of hidden channels: their activations' products with each other, and what products cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.samples import Tensors
from autotune_backends.transform.onnx.allocation import Product
from autotune_backends.transform.onnx.elimination import Array
from autotune_backends.transform.onnx.prunable import Chain, Cut, attribute
from autotune_backends.transform.onnx.sensitivity import run_with_outputs

__all__ = ["Activations", "look_at"]

_SAMPLES = 64

Samples = Callable[[], Iterable[Tensors]]
Run = Callable[[Sequence[str], Iterable[Tensors]], Iterable[Tensors]]


@dataclass(frozen=True)
class Activations:
    """``grams`` by chain (its place among those looked at) and node that uses it: mean over samples and positions.

    ``products`` are all that make or use the chains' channels.
    """

    grams: Mapping[tuple[int, int], Array]
    products: Sequence[Product]


def look_at(path: Path, model: Any, chains: Sequence[Chain], samples: Samples, library: Path | None) -> Activations:
    """Run the samples through the model at ``path``, read as ``model``. Raises ``ValueError`` when there are none."""
    run = partial(run_with_outputs, path, library=library)
    return Activations(_grams(run, model, chains, samples), _products(run, model, chains, samples))


def _grams(run: Run, model: Any, chains: Sequence[Chain], samples: Samples) -> dict[tuple[int, int], Array]:
    uses = {(place, use.node): (chain, use) for place, chain in enumerate(chains) for use in chain.uses}
    names = {key: model.graph.node[use.node].input[0] for key, (_, use) in uses.items()}
    grams: dict[tuple[int, int], Array] = {}
    count = 0
    for found in run(sorted(set(names.values())), islice(samples(), _SAMPLES)):
        count += 1
        for key, (chain, use) in uses.items():
            rows = _rows(np.asarray(found[names[key]], np.float32), chain, use)
            grams[key] = grams.get(key, 0.0) + (rows.T @ rows).astype(np.float64) / len(rows)
    if not count:
        raise ValueError("there are no calibration data")
    return {key: gram / count for key, gram in grams.items()}


def _products(run: Run, model: Any, chains: Sequence[Chain], samples: Samples) -> list[Product]:
    """Their multiply-adds for one sample."""
    makes = {node: place for place, chain in enumerate(chains) for node in (chain.producer, *chain.depthwise)}
    uses = {use.node: place for place, chain in enumerate(chains) for use in chain.uses}
    nodes = {index: model.graph.node[index] for index in sorted(makes.keys() | uses.keys())}
    wanted = [node.output[0] for node in nodes.values()]
    (found,) = run(wanted, islice(samples(), 1))
    dims = {weight.name: list(weight.dims) for weight in model.graph.initializer}
    return [
        Product(found[node.output[0]].size * _terms(node, dims[node.input[1]]), makes.get(index), uses.get(index))
        for index, node in nodes.items()
    ]


def _terms(node: Any, dims: Sequence[int]) -> float:
    """Products that are summed in one entry of a node's output."""
    first = node.op_type == "Conv" or attribute(node, "transB", 0)
    return prod(dims) / (dims[0] if first else dims[-1])


def _rows(values: NDArray[np.float32], chain: Chain, use: Cut) -> NDArray[np.float32]:
    """Activations as ``[position, channel]``. Raises ``ValueError`` when a Reshape turns out to mix samples with channels."""
    if chain.reshapes and values.ndim == 2 and len(values) != 1:
        raise ValueError("a Reshape spreads one sample over several rows, so that its channels cannot be told apart")
    if use.repeat > 1 or values.ndim == 2:
        return values.reshape(len(values), chain.channels, -1).swapaxes(1, 2).reshape(-1, chain.channels)
    return np.moveaxis(values, values.ndim - chain.axis_from_end, -1).reshape(-1, chain.channels)

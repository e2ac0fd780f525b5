"""Structured pruning: hidden channels that matter least are taken out, and what is left makes up for them.

Importance is what a channel carries of the next product's output: the mean square of its activations times the squared norm of
the weights that use it (Sun et al., Wanda, 2023, for whole channels). Each removed channel is then written as the combination
of kept ones that is nearest on the calibration data, by least squares, and the weights that used it are added to theirs
(layer-wise reconstruction: He et al., Channel Pruning, 2017; exact for a MatMul, for a Conv without regard to its neighbours).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.samples import Tensors
from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.prepare import Prepare
from autotune_backends.transform.onnx.prepared import Prepared, prepared
from autotune_backends.transform.onnx.prunable import Chain, Cut, find_chains
from autotune_backends.transform.onnx.sensitivity import run_with_outputs

__all__ = ["Prune", "kept_count"]

_SAMPLES = 64
_BLOCK = 8
"""Channels are kept in blocks of so many: runtimes lay them out so for their vector units."""

_RIDGE = 1e-4
"""Of the mean square activation: keeps the least squares solvable where channels are copies of each other."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Prune:
    """``ratio`` of the hidden channels of every chain is removed. ``samples`` yields inputs of batch 1, anew each time.

    ``library``: what implements the model's own operators, None: it has none.
    """

    ratio: float
    samples: Callable[[], Iterable[Tensors]]
    library: Path | None = None

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the pruned model. ``facts``: parameters before and after, each chain's channels, and why others were left."""
        with prepared(source, target, Prepare(self.library)) as ready:
            return self._prune(ready, target)

    def _prune(self, ready: Prepared, target: Path) -> Change:
        import onnx

        model = onnx.load(str(ready.path))
        chains = find_chains(model)
        able = [
            chain
            for chain in chains
            if chain.spoilt is None and kept_count(chain.channels, self.ratio) < chain.channels
        ]
        facts: dict[str, Any] = {"parameters_before": _parameters(model)}
        grams = self._grams(ready.path, model, able)
        facts["channels"] = {
            model.graph.node[chain.producer].name: [chain.channels, self._cut(model, chain, grams)] for chain in able
        }
        _drop_stale(model)
        facts["parameters_after"] = _parameters(model)
        facts["left_alone"] = dict(Counter(chain.spoilt for chain in chains if chain.spoilt))
        external = f"{target.name}.data" if ready.external else None
        onnx.save_model(model, str(target), save_as_external_data=ready.external, location=external)
        return ready.change("pruning", target, +Counter(chains=len(able)), _why_nothing(chains), **facts)

    def _grams(self, path: Path, model: Any, chains: Sequence[Chain]) -> dict[tuple[int, int], Array]:
        """Per chain and use: the products of its channels' activations with each other, summed over positions and samples."""
        uses = {(chain.producer, use.node): (chain, use) for chain in chains for use in chain.uses}
        names = {key: model.graph.node[use.node].input[0] for key, (_, use) in uses.items()}
        grams: dict[tuple[int, int], Array] = {}
        samples = islice(self.samples(), _SAMPLES)
        count = 0
        for found in run_with_outputs(path, sorted(set(names.values())), samples, self.library) if uses else ():
            count += 1
            for key, (chain, use) in uses.items():
                rows = _rows(np.asarray(found[names[key]], np.float64), chain, use)
                grams[key] = grams.get(key, 0.0) + rows.T @ rows / len(rows)
        if uses and not count:
            raise ValueError("there are no calibration data")
        return {key: gram / count for key, gram in grams.items()}

    def _cut(self, model: Any, chain: Chain, grams: dict[tuple[int, int], Array]) -> int:
        """Take the least important channels out; return how many are left."""
        weights = {use: _Weights.of(model, use, chain.channels) for use in chain.uses}
        score = sum(
            np.diag(grams[chain.producer, use.node]) * np.sum(one.by_channel**2, axis=(1, 2))
            for use, one in weights.items()
        )
        count = kept_count(chain.channels, self.ratio)
        kept = np.sort(np.argsort(-np.asarray(score), kind="stable")[:count])
        for use, one in weights.items():
            one.replace(model, use, _made_up(one.by_channel, grams[chain.producer, use.node], kept))
        for cut in chain.cuts:
            whole = _array(model, cut)
            _store(model, cut, np.take(whole, kept, axis=cut.axis))
        for index in chain.reshapes:
            rows, width = _array(model, Cut(index, 1, 0))
            narrow = width if width == -1 else width // chain.channels * len(kept)
            _store(model, Cut(index, 1, 0), np.array([rows, narrow], np.int64))
        for index in chain.depthwise:
            group = next(one for one in model.graph.node[index].attribute if one.name == "group")
            group.i = len(kept)
        return len(kept)


@dataclass(frozen=True)
class _Weights:
    """A use's weight as [channel, repeat, everything else], and how to put it back."""

    by_channel: Array
    rest: tuple[int, ...]

    @classmethod
    def of(cls, model: Any, use: Cut, channels: int) -> _Weights:
        moved = np.moveaxis(_array(model, use).astype(np.float64), use.axis, 0)
        return cls(moved.reshape(channels, use.repeat, -1), moved.shape[1:])

    def replace(self, model: Any, use: Cut, changed: Array) -> None:
        whole = changed.reshape(len(changed) * use.repeat, *self.rest)
        _store(model, use, np.moveaxis(whole, 0, use.axis).astype(np.float32))


def kept_count(channels: int, ratio: float) -> int:
    """How many channels are left: a block at least, in whole blocks, and no more than there are."""
    blocks = max(1, ceil(channels * (1.0 - ratio) / _BLOCK - 1e-9))
    return min(channels, blocks * _BLOCK)


def _made_up(weights: Array, gram: Array, kept: NDArray[np.intp]) -> Array:
    """The kept channels' weights, with those of the removed ones added in the nearest combination."""
    removed = np.setdiff1d(np.arange(len(gram)), kept)
    inner = gram[np.ix_(kept, kept)]
    ridge = _RIDGE * (np.trace(inner) / len(kept) or 1.0)
    mixture = np.linalg.solve(inner + ridge * np.eye(len(kept)), gram[np.ix_(kept, removed)])
    made: Array = weights[kept] + np.einsum("kr,rst->kst", mixture, weights[removed])
    return made


def _rows(values: Array, chain: Chain, use: Cut) -> Array:
    """Activations as [position, channel]. Raises ``ValueError`` when a Reshape turns out to mix samples with channels."""
    if chain.reshapes and values.ndim == 2 and len(values) != 1:
        raise ValueError("a Reshape spreads one sample over several rows, so that its channels cannot be told apart")
    if use.repeat > 1 or values.ndim == 2:
        return values.reshape(len(values), chain.channels, -1).swapaxes(1, 2).reshape(-1, chain.channels)
    return np.moveaxis(values, values.ndim - chain.axis_from_end, -1).reshape(-1, chain.channels)


def _array(model: Any, cut: Cut) -> NDArray[Any]:
    from onnx import numpy_helper

    name = model.graph.node[cut.node].input[cut.position]
    found = next(weight for weight in model.graph.initializer if weight.name == name)
    whole: NDArray[Any] = numpy_helper.to_array(found)
    return whole


def _store(model: Any, cut: Cut, array: NDArray[Any]) -> None:
    """Give the node a weight of its own: others may share the one it had."""
    from onnx import numpy_helper

    node = model.graph.node[cut.node]
    name = f"{node.input[cut.position].removesuffix('_pruned')}_of{cut.node}_{cut.position}_pruned"
    stale = [weight for weight in model.graph.initializer if weight.name == name]
    for weight in stale:
        model.graph.initializer.remove(weight)
    model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
    node.input[cut.position] = name


def _drop_stale(model: Any) -> None:
    """Drop weights that nobody reads any more, and shapes that are no longer true."""
    from autotune_backends.transform.onnx.graph import graphs

    read = {name for graph in graphs(model.graph) for node in graph.node for name in node.input}
    read |= {output.name for graph in graphs(model.graph) for output in graph.output}
    for weight in [weight for weight in model.graph.initializer if weight.name not in read]:
        model.graph.initializer.remove(weight)
    del model.graph.value_info[:]


def _parameters(model: Any) -> int:
    return sum(int(np.prod(weight.dims, dtype=np.int64)) for weight in model.graph.initializer)


def _why_nothing(chains: Sequence[Chain]) -> str:
    reasons = "; ".join(dict.fromkeys(chain.spoilt for chain in chains if chain.spoilt))
    return f"nothing was pruned: {reasons or 'the model has no hidden channels to spare'}"

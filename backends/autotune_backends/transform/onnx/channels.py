"""Takes channels out of a loaded graph: weights, constants, groups and shapes lose them alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune_backends.transform.onnx.graph import graphs
from autotune_backends.transform.onnx.prunable import Chain, Cut

__all__ = ["Weights", "cut_channels", "drop_stale"]


@dataclass(frozen=True)
class Weights:
    """A use's weight as ``[channel, everything else]``; it is ``repeat`` entries a channel long, each of the shape ``rest``."""

    by_channel: NDArray[Any]
    repeat: int
    rest: tuple[int, ...]

    @classmethod
    def of(cls, model: Any, use: Cut, channels: int) -> Weights:
        """Read it."""
        moved = np.moveaxis(_array(model, use), use.axis, 0)
        return cls(moved.reshape(channels, -1), use.repeat, moved.shape[1:])

    def replace(self, model: Any, use: Cut, changed: NDArray[Any]) -> None:
        """Write it with other channels."""
        whole = changed.reshape(len(changed) * self.repeat, *self.rest)
        _store(model, use, np.moveaxis(whole, 0, use.axis).astype(np.float32))


def cut_channels(model: Any, chain: Chain, kept: NDArray[np.intp]) -> None:
    """Leave the channels ``kept`` of everything but the uses' weights."""
    for cut in chain.cuts:
        _store(model, cut, np.take(_array(model, cut), kept, axis=cut.axis))
    for index in chain.reshapes:
        rows, width = _array(model, Cut(index, 1, 0))
        narrow = width if width == -1 else width // chain.channels * len(kept)
        _store(model, Cut(index, 1, 0), np.array([rows, narrow], np.int64))
    for index in chain.depthwise:
        group = next(one for one in model.graph.node[index].attribute if one.name == "group")
        group.i = len(kept)


def drop_stale(model: Any) -> None:
    """Drop weights that nobody reads any more, and shapes that are no longer true."""
    read = {name for graph in graphs(model.graph) for node in graph.node for name in node.input}
    read |= {output.name for graph in graphs(model.graph) for output in graph.output}
    for weight in [weight for weight in model.graph.initializer if weight.name not in read]:
        model.graph.initializer.remove(weight)
    del model.graph.value_info[:]


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

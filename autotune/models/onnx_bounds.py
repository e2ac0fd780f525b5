"""Legal values of inputs that are ids: those that end up as indices into a constant table, or as one-hot vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["id_bounds"]

Bounds = tuple[float, float]

_INDEXING: Final = {
    # operator: pairs of (input that is the table, input that is the index)
    "Gather": ((0, 1),),
    "GatherElements": ((0, 1),),
    "EmbedLayerNormalization": ((2, 0), (4, 1)),
}
_SAME_VALUES: Final = frozenset(
    {"Cast", "Expand", "Flatten", "Identity", "Reshape", "Slice", "Squeeze", "Tile", "Transpose", "Unsqueeze"}
)
_SAME_SHAPE: Final = frozenset({"Cast", "DequantizeLinear", "Identity"})


def id_bounds(graph: Any) -> dict[str, Bounds]:
    """Return the legal (lowest, highest) value of each tensor that is an id; the narrowest bound counts.

    An index into a constant table of n rows, or a OneHot of depth n, lies in 0..n-1; what is compared with a whole vector of
    constant integers lies among them. Ids are followed back through operators that keep values as they are (Cast,
    Reshape, …). Sub-graphs are not read.
    """
    trace = _Trace({output: node for node in graph.node for output in node.output}, _constants(graph))
    bounds: dict[str, Bounds] = {}
    for node in graph.node:
        for name, (low, high) in (*trace.indexed(node), *trace.one_hot(node)):
            origin = trace.origin(name)
            known = bounds.get(origin, (low, high))
            bounds[origin] = (max(low, known[0]), min(high, known[1]))
    return bounds


def _constants(graph: Any) -> dict[str, Any]:
    """``TensorProto`` by name: initialisers, and what Constant nodes hold."""
    found = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        values = [
            attribute.t for attribute in node.attribute if node.op_type == "Constant" and attribute.name == "value"
        ]
        if values:
            found[node.output[0]] = values[0]
    return found


@dataclass(frozen=True)
class _Trace:
    """``makers``: tensor → the node that makes it; ``constants``: tensor → its ``TensorProto``."""

    makers: dict[str, Any]
    constants: dict[str, Any]

    def origin(self, name: str, through: frozenset[str] = _SAME_VALUES) -> str:
        """The tensor that ``name`` comes from by operators of ``through`` alone."""
        for _ in range(len(self.makers)):  # a broken model may go round in circles
            maker = self.makers.get(name)
            if maker is None or name in self.constants or maker.op_type not in through or not maker.input:
                break
            name = maker.input[0]
        return name

    def indexed(self, node: Any) -> Iterator[tuple[str, Bounds]]:
        """What ``node`` uses as an index into a constant table."""
        for table, index in _INDEXING.get(node.op_type, ()):
            if max(table, index) < len(node.input) and node.input[index]:
                rows = self._rows(node.input[table], node)
                if rows:
                    yield node.input[index], (0, rows - 1)

    def one_hot(self, node: Any) -> Iterator[tuple[str, Bounds]]:
        """What ``node`` turns into one-hot vectors: by OneHot, or by Equal with a vector of integers."""
        if node.op_type == "OneHot" and len(node.input) == 3:
            depth = self._integers(node.input[1])
            if depth is not None and depth.size == 1 and depth.max() > 0:
                yield node.input[0], (0, int(depth.max()) - 1)
        if node.op_type == "Equal" and len(node.input) == 2:
            for one, other in (node.input, reversed(node.input)):
                known = self._integers(other)
                if known is not None and known.size > 2:
                    yield one, (int(known.min()), int(known.max()))

    def _rows(self, table: str, node: Any) -> int | None:
        constant = self.constants.get(self.origin(table, _SAME_SHAPE))
        axis = next((int(attribute.i) for attribute in node.attribute if attribute.name == "axis"), 0)
        shape = list(constant.dims) if constant is not None else []
        return int(shape[axis]) if -len(shape) <= axis < len(shape) else None

    def _integers(self, name: str) -> NDArray[Any] | None:
        """The constant that ``name`` comes from; None when there is none, or it holds no integers, or lies in another file."""
        from onnx import numpy_helper

        constant = self.constants.get(self.origin(name))
        if constant is None or constant.data_location == constant.EXTERNAL:
            return None
        try:
            array: NDArray[Any] = numpy_helper.to_array(constant)
        except ValueError:  # its bytes do not fill its shape: the runtime will say so
            return None
        whole = array.dtype.kind in "iu" or (array.dtype.kind == "f" and np.array_equal(array, np.rint(array)))
        return array if whole and np.isfinite(array).all() else None

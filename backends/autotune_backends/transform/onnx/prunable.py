"""Finds hidden channels that can be taken out: made by one product, changed channel by channel, and used up by other products.

What mixes the channels with anything else (a residual add, a concat, a reshape, a grouped convolution, an output, a branch)
keeps the whole chain as it is, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from autotune_backends.transform.onnx.graph import DEFAULT_DOMAIN, graphs

__all__ = ["Chain", "Cut", "attribute", "find_chains"]

FEWEST_CHANNELS = 8

_POINTWISE = frozenset(
    {
        "Relu",
        "LeakyRelu",
        "Clip",
        "Sigmoid",
        "HardSigmoid",
        "HardSwish",
        "Tanh",
        "Erf",
        "Gelu",
        "Elu",
        "Selu",
        "Softplus",
    }
    | {"Softsign", "Mish", "Identity", "Abs", "Sqrt", "Neg"}
)
_POOLING = frozenset({"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"})
_BINARY = frozenset({"Add", "Sub", "Mul", "Div", "Pow", "Min", "Max"})


@dataclass(frozen=True)
class Cut:
    """Input ``position`` of the node at ``node`` loses channels along ``axis``; each channel is ``repeat`` entries long there."""

    node: int
    position: int
    axis: int
    repeat: int = 1


@dataclass
class Chain:
    """``producer`` is the position of a node. ``cuts`` are what loses channels besides the consumers' weights.

    ``depthwise`` convolutions have as many groups as channels. ``uses`` are the consumers' weights.
    ``reshapes`` flatten images to [batch, channels × positions]; ``sizes`` are the constants that say so, by name.
    ``spoilt`` tells why it cannot be cut, None: it can.
    """

    producer: int
    channels: int
    axis_from_end: int
    cuts: list[Cut] = field(default_factory=list)
    uses: list[Cut] = field(default_factory=list)
    depthwise: list[int] = field(default_factory=list)
    reshapes: list[int] = field(default_factory=list)
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    spoilt: str | None = None


def find_chains(model: Any) -> list[Chain]:
    """Every product of the main graph with constant weights, as a chain that can be cut, or is spoilt. Reads shapes alone."""
    shapes = {weight.name: tuple(weight.dims) for weight in model.graph.initializer}
    sizes = {weight.name: found for weight in model.graph.initializer if (found := _pair(weight))}
    chains = list(_producers(model, shapes))
    for chain in chains:
        chain.sizes = sizes
        _followed(chain, model, shapes)
    return chains


def attribute(node: Any, name: str, default: int) -> int:
    """An integer attribute of a node."""
    return next((int(one.i) for one in node.attribute if one.name == name), default)


def _pair(weight: Any) -> tuple[int, ...]:
    """The two numbers of a constant that may be a shape; empty: it is none."""
    from onnx import TensorProto, numpy_helper

    inside = weight.data_location != TensorProto.EXTERNAL
    if weight.data_type != TensorProto.INT64 or list(weight.dims) != [2] or not inside:
        return ()
    return tuple(int(size) for size in numpy_helper.to_array(weight))


def _producers(model: Any, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[Chain]:
    for index, node in enumerate(model.graph.node):
        shape = shapes.get(node.input[1], ()) if len(node.input) > 1 else ()
        if node.domain not in DEFAULT_DOMAIN or not node.input or node.input[0] in shapes:
            continue
        if node.op_type == "Conv" and len(shape) >= 3 and attribute(node, "group", 1) == 1:
            axis, from_end = 0, len(shape) - 1
        elif len(shape) == 2 and (node.op_type == "MatMul" or (node.op_type == "Gemm" and _plain(node))):
            axis, from_end = (0 if attribute(node, "transB", 0) else 1), 1
        else:
            continue
        chain = Chain(index, shape[axis], from_end, [Cut(index, 1, axis)])
        bias = shapes.get(node.input[2], ()) if len(node.input) > 2 and node.input[2] else None
        if bias is not None:
            _constant(chain, index, 2, bias, 1)
        if chain.channels >= FEWEST_CHANNELS:
            yield chain


def _plain(node: Any) -> bool:
    return not attribute(node, "transA", 0)


def _followed(chain: Chain, model: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Follow the channels through the graph, whose nodes come in order."""
    nodes = list(model.graph.node)
    ends = {output.name for output in model.graph.output} | _used_inside(model)
    live: dict[str, bool] = {}  # tensor that carries the channels → whether it is flattened
    _carry(chain, live, nodes[chain.producer].output, ends, flat=False)
    for index in range(chain.producer + 1, len(nodes)):
        node = nodes[index]
        if chain.spoilt is None and any(name in live for name in node.input):
            _pass(chain, index, node, shapes, live, ends)
    if chain.spoilt is None and not chain.uses:
        chain.spoilt = "nothing uses its channels"


def _pass(
    chain: Chain, index: int, node: Any, shapes: Mapping[str, tuple[int, ...]], live: dict[str, bool], ends: set[str]
) -> None:
    flat = any(live.get(name, False) for name in node.input)
    others = [name for name in node.input if name and name not in live and name not in shapes]
    if node.domain not in DEFAULT_DOMAIN or others:
        chain.spoilt = f"{node.op_type} joins its channels with others"
    elif node.op_type in ("Conv", "MatMul", "Gemm"):
        _product(chain, index, node, shapes, live, ends, flat=flat)
    elif node.op_type in _POINTWISE and not flat:
        _carry(chain, live, node.output, ends, flat=False)
    elif node.op_type in _BINARY and not flat:
        _with_constants(chain, index, node, shapes, chain.axis_from_end)
        _carry(chain, live, node.output, ends, flat=False)
    elif chain.axis_from_end > 1 and not flat:
        _of_images(chain, index, node, shapes, live, ends)
    else:
        chain.spoilt = f"{node.op_type} mixes its channels"


def _of_images(
    chain: Chain, index: int, node: Any, shapes: Mapping[str, tuple[int, ...]], live: dict[str, bool], ends: set[str]
) -> None:
    """What keeps channels apart on axis 1 of an image."""
    if node.op_type in _POOLING and len(node.output) == 1:
        _carry(chain, live, node.output, ends, flat=False)
    elif node.op_type == "BatchNormalization" and not attribute(node, "training_mode", 0):
        _with_constants(chain, index, node, shapes, 1)
        _carry(chain, live, node.output[:1], ends, flat=False)
    elif node.op_type == "Flatten" and attribute(node, "axis", 1) == 1:
        _carry(chain, live, node.output, ends, flat=True)
    elif node.op_type == "Reshape" and _flattens(chain, node):
        chain.reshapes.append(index)
        _carry(chain, live, node.output, ends, flat=True)
    else:
        chain.spoilt = f"{node.op_type} mixes its channels"


def _flattens(chain: Chain, node: Any) -> bool:
    """Whether a Reshape makes one row of a sample, as far as its constant tells."""
    _, width = chain.sizes.get(node.input[1], (0, 0)) or (0, 0)
    return width == -1 or (width > 0 and width % chain.channels == 0)


def _product(
    chain: Chain,
    index: int,
    node: Any,
    shapes: Mapping[str, tuple[int, ...]],
    live: dict[str, bool],
    ends: set[str],
    *,
    flat: bool,
) -> None:
    weight = shapes.get(node.input[1])
    if weight is None or node.input[0] not in live or any(name in live for name in node.input[1:]):
        chain.spoilt = f"{node.op_type} multiplies its channels by what is not constant"
    elif node.op_type == "Conv" and chain.axis_from_end > 1 and not flat:
        group = attribute(node, "group", 1)
        if group == 1 and weight[1] == chain.channels:
            chain.uses.append(Cut(index, 1, 1))
        elif group == weight[0] == chain.channels:
            chain.depthwise.append(index)
            chain.cuts += [Cut(index, position, 0) for position in range(1, len(node.input)) if node.input[position]]
            _carry(chain, live, node.output, ends, flat=False)
        else:
            chain.spoilt = "a grouped convolution uses its channels"
    elif node.op_type in ("MatMul", "Gemm") and len(weight) == 2 and (flat or chain.axis_from_end == 1):
        axis = 1 if attribute(node, "transB", 0) else 0
        if weight[axis] % chain.channels or not _plain(node) or (not flat and weight[axis] != chain.channels):
            chain.spoilt = f"{node.op_type} does not use its channels one by one"
        else:
            chain.uses.append(Cut(index, 1, axis, weight[axis] // chain.channels))
    else:
        chain.spoilt = f"{node.op_type} mixes its channels"


def _with_constants(chain: Chain, index: int, node: Any, shapes: Mapping[str, tuple[int, ...]], from_end: int) -> None:
    for position, name in enumerate(node.input):
        if name in shapes:
            _constant(chain, index, position, shapes[name], from_end)


def _constant(chain: Chain, index: int, position: int, shape: tuple[int, ...], from_end: int) -> None:
    """A constant that broadcasts over the channels stays whole; one with an entry a channel is cut."""
    axis = len(shape) - from_end
    if axis < 0 or shape[axis] == 1:
        return
    if shape[axis] == chain.channels and len(shape) <= max(chain.axis_from_end + 1, 2):
        chain.cuts.append(Cut(index, position, axis))
    else:
        chain.spoilt = "a constant of another size is combined with its channels"


def _carry(chain: Chain, live: dict[str, bool], outputs: Any, ends: set[str], *, flat: bool) -> None:
    for name in outputs:
        live[name] = flat
        if name in ends:
            chain.spoilt = "its channels are an output"


def _used_inside(model: Any) -> set[str]:
    """Tensors that bodies of branches and loops read."""
    _, *inner = graphs(model.graph)
    return {name for graph in inner for node in graph.node for name in node.input} | {
        output.name for graph in inner for output in graph.output
    }

"""What a model is made of: operators, weights, branches, and what a person should know of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import ceil, prod
from typing import Any, Final

from autotune.models.onnx_flops import HEAVY
from autotune.models.onnx_signature import true_inputs
from autotune.models.onnx_types import bits
from autotune.models.onnx_walk import all_nodes, all_tensors, outer_names

__all__ = ["count_operators", "is_branching", "is_quantised", "remarks", "weight_bytes"]

_QUANTISED: Final = frozenset(
    {
        "QuantizeLinear",
        "DequantizeLinear",
        "DynamicQuantizeLinear",
        "ConvInteger",
        "MatMulInteger",
        "MatMulIntegerToFloat",
        "DynamicQuantizeMatMul",
        "DynamicQuantizeLSTM",
        "MatMulNBits",
        "QAttention",
        "QEmbedLayerNormalization",
        "QGemm",
        "QMoE",
    }
)
_OVERRIDABLE_SINCE_IR: Final = (
    4  # from here on an initialiser that is an input too may be overridden when the model runs
)


def count_operators(model: Any) -> dict[str, int]:
    """Return ``domain::type`` → nodes, sub-graphs and local functions included; the default domain has no prefix."""
    names = (
        f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
        for node in all_nodes(model)
    )
    return dict(sorted(Counter(names).items()))


def is_quantised(operators: Iterable[str]) -> bool:
    """Whether the model is quantised already, in any of ONNX's and onnxruntime's ways."""
    kinds = {name.rpartition("::")[2] for name in operators}
    return bool(kinds & _QUANTISED) or any(kind.startswith("QLinear") for kind in kinds)


def is_branching(graph: Any) -> bool:
    """Whether two heavy operators (matrix products, convolutions, …) could run at once.

    They cannot when one path holds them all: then the longest path, counted in heavy operators, is as long as their number.
    (ONNX lists nodes in topological order.)
    """
    depth: dict[str, int] = {}
    longest = heavy = 0
    for node in graph.node:
        weight = int(node.op_type in HEAVY)
        reached = weight + max((depth.get(name, 0) for name in outer_names(node)), default=0)
        depth.update(dict.fromkeys(node.output, reached))
        longest, heavy = max(longest, reached), heavy + weight
    return longest < heavy


def weight_bytes(model: Any) -> int:
    """Bytes of all constants by type and shape, wherever they lie."""
    return sum(ceil(bits(tensor.data_type) * prod(tensor.dims) / 8) for tensor in all_tensors(model))


def remarks(model: Any) -> tuple[str, ...]:
    """Peculiarities that change what can be tuned, in words."""
    return tuple(remark for remark in (_overridable(model), _twins(model.graph.node)) if remark)


def _overridable(model: Any) -> str | None:
    true = {value.name for value in true_inputs(model.graph)}
    names = [value.name for value in model.graph.input if value.name not in true]
    if not names or model.ir_version < _OVERRIDABLE_SINCE_IR:
        return None
    return (
        f"weights are listed as inputs ({_some(names)}), so they cannot be folded: remove them from the graph's inputs"
    )


def _twins(nodes: Iterable[Any]) -> str | None:
    counts: Mapping[str, int] = Counter(node.name for node in nodes if node.name)
    names = [name for name, count in counts.items() if count > 1]
    return f"nodes share a name ({_some(names)}), which onnxruntime refuses" if names else None


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

"""Writes a Gemm's bias of shape [1, N] as [N], which broadcasts alike: onnxruntime's static quantiser stumbles over the first."""

from __future__ import annotations

from typing import Any

from autotune_backends.transform.onnx.graph import nodes

__all__ = ["flatten_biases"]


def flatten_biases(model: Any) -> list[str]:
    """Change them in place; return the weights' names. Those that anything but a Gemm's bias reads are left."""
    biases, others = set[str](), set[str]()
    for node in nodes(model.graph):
        for position, name in enumerate(node.input):
            (biases if node.op_type == "Gemm" and position == 2 else others).add(name)
    flat = [weight for weight in model.graph.initializer if weight.name in biases - others and _is_row(weight.dims)]
    for weight in flat:
        del weight.dims[0]
    return [weight.name for weight in flat]


def _is_row(dims: Any) -> bool:
    return len(dims) == 2 and dims[0] == 1

"""The part of a graph that depends on its weights, as a function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autotune_backends.transform.onnx.differentiable.call import Call, attributes_of
from autotune_backends.transform.onnx.differentiable.parts import OPERATORS, Parts
from autotune_backends.transform.onnx.graph import opset

__all__ = ["GraphFunction"]


class GraphFunction:
    """``weights`` holds the trained tensors by name, to be given to an optimiser; every other constant stays as it is.

    Needs PyTorch, and weights inside ``model``. Operators were checked before (``without_derivative``).
    """

    def __init__(self, model: Any, parts: Parts) -> None:
        import torch
        from onnx import numpy_helper

        nodes = [model.graph.node[index] for index in parts.moving]
        read = {name for node in nodes for name in node.input}
        self._torch = torch
        self._steps = [(node, attributes_of(node)) for node in nodes]
        self._opset = opset(model) or 0
        constants = {
            one.name: torch.from_numpy(numpy_helper.to_array(one).copy())
            for one in model.graph.initializer
            if one.name in read
        }
        self.weights = {name: constants[name].requires_grad_() for name in parts.trained}
        self._constants = constants
        self._outputs = [value.name for value in model.graph.output]

    def __call__(self, given: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Any]:
        """Return the graph's outputs that depend on weights, by name. ``given`` are the tensors that the parts name."""
        values: dict[str, Any] = dict(self._constants)
        values |= {name: self._torch.from_numpy(np.ascontiguousarray(array)) for name, array in given.items()}
        for node, attributes in self._steps:
            inputs = [values[name] if name else None for name in node.input]
            found = OPERATORS[node.op_type](Call(self._torch, inputs, attributes, len(node.output), self._opset))
            several = found if isinstance(found, tuple | list) else (found,)
            values |= dict(zip(node.output, several, strict=False))
        return {name: values[name] for name in self._outputs if name in values}

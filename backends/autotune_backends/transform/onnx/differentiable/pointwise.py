"""Operators that work entry by entry, and softmax."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from math import prod
from typing import Any

from autotune_backends.transform.onnx.differentiable.call import Call, Operator

__all__ = ["POINTWISE"]


def _cast(call: Call) -> Any:
    from onnx import helper

    name = str(helper.tensor_dtype_to_np_dtype(call.get("to")))
    return call[0].to(getattr(call.torch, name))


def _clip(call: Call) -> Any:
    low, high = (call[1], call[2]) if len(call.inputs) > 1 else (call.get("min"), call.get("max"))
    return call[0] if low is None and high is None else call.torch.clamp(call[0], low, high)


def _divide(call: Call) -> Any:
    whole = not call[0].is_floating_point()
    return call.torch.div(call[0], call[1], rounding_mode="trunc" if whole else None)


def _softmax(call: Call) -> Any:
    """Before operator set 13, all axes from ``axis`` on are one."""
    function = call.functional.softmax
    if call.opset >= 13:
        return function(call[0], dim=call.get("axis", -1))
    shape = call[0].shape
    axis = call.get("axis", 1) % call[0].ndim
    return function(call[0].reshape(prod(shape[:axis]), -1), dim=1).reshape(shape)


def _hard_sigmoid(call: Call) -> Any:
    return call.torch.clamp(call.get("alpha", 0.2) * call[0] + call.get("beta", 0.5), 0, 1)


POINTWISE: Mapping[str, Operator] = {
    "Abs": lambda call: call[0].abs(),
    "Add": lambda call: call[0] + call[1],
    "And": lambda call: call[0] & call[1],
    "Cast": _cast,
    "Clip": _clip,
    "Cos": lambda call: call[0].cos(),
    "Div": _divide,
    "Dropout": lambda call: call[0],
    "Elu": lambda call: call.functional.elu(call[0], call.get("alpha", 1.0)),
    "Equal": lambda call: call[0] == call[1],
    "Erf": lambda call: call.torch.erf(call[0]),
    "Exp": lambda call: call[0].exp(),
    "Gelu": lambda call: call.functional.gelu(call[0], approximate=call.get("approximate", "none")),
    "Greater": lambda call: call[0] > call[1],
    "GreaterOrEqual": lambda call: call[0] >= call[1],
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": lambda call: call.functional.hardswish(call[0]),
    "Identity": lambda call: call[0],
    "LeakyRelu": lambda call: call.functional.leaky_relu(call[0], call.get("alpha", 0.01)),
    "Less": lambda call: call[0] < call[1],
    "LessOrEqual": lambda call: call[0] <= call[1],
    "Log": lambda call: call[0].log(),
    "Max": lambda call: reduce(call.torch.maximum, call.inputs),
    "Min": lambda call: reduce(call.torch.minimum, call.inputs),
    "Mish": lambda call: call.functional.mish(call[0]),
    "Mul": lambda call: call[0] * call[1],
    "Neg": lambda call: -call[0],
    "Not": lambda call: ~call[0],
    "Or": lambda call: call[0] | call[1],
    "PRelu": lambda call: call.torch.where(call[0] < 0, call[0] * call[1], call[0]),
    "Pow": lambda call: call[0] ** call[1].to(call[0].dtype),
    "Reciprocal": lambda call: call[0].reciprocal(),
    "Relu": lambda call: call.torch.relu(call[0]),
    "Selu": lambda call: call.functional.selu(call[0]),
    "Sigmoid": lambda call: call.torch.sigmoid(call[0]),
    "Sin": lambda call: call[0].sin(),
    "Softmax": _softmax,
    "Softplus": lambda call: call.functional.softplus(call[0]),
    "Softsign": lambda call: call.functional.softsign(call[0]),
    "Sqrt": lambda call: call[0].sqrt(),
    "Sub": lambda call: call[0] - call[1],
    "Tanh": lambda call: call.torch.tanh(call[0]),
    "Where": lambda call: call.torch.where(call[0], call[1], call[2]),
}
"""By name; the definitions are those of ONNX's operator reference."""

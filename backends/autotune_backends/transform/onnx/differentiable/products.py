"""Convolutions, matrix products and normalisations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune_backends.transform.onnx.differentiable.call import Call, Operator
from autotune_backends.transform.onnx.differentiable.windows import padded, window_of

__all__ = ["PRODUCTS"]


def _conv(call: Call) -> Any:
    window = window_of(call, call[1].shape[2:])
    convolve = getattr(call.functional, f"conv{len(window.size)}d")
    return convolve(
        padded(call, call[0], window),
        call[1],
        call[2],
        stride=window.strides,
        dilation=window.dilations,
        groups=call.get("group", 1),
    )


def _gemm(call: Call) -> Any:
    left = call[0].T if call.get("transA", 0) else call[0]
    right = call[1].T if call.get("transB", 0) else call[1]
    product = call.get("alpha", 1.0) * (left @ right)
    return product if call[2] is None else product + call.get("beta", 1.0) * call[2]


def _batch_normalisation(call: Call) -> Any:
    values, scale, shift, mean, variance = call.inputs
    return call.functional.batch_norm(
        values, mean, variance, scale, shift, training=False, eps=call.get("epsilon", 1e-5)
    )


def _layer_normalisation(call: Call) -> Any:
    axis = call.get("axis", -1) % call[0].ndim
    shape = call[0].shape[axis:]
    shift = None if call[2] is None else call[2].expand(shape)
    return call.functional.layer_norm(call[0], shape, call[1].expand(shape), shift, call.get("epsilon", 1e-5))


PRODUCTS: Mapping[str, Operator] = {
    "BatchNormalization": _batch_normalisation,
    "Conv": _conv,
    "Gemm": _gemm,
    "LayerNormalization": _layer_normalisation,
    "MatMul": lambda call: call[0] @ call[1],
}
"""By name, for inference: the statistics of a batch normalisation stay as they are."""

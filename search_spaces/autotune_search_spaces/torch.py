"""The space of PyTorch's exported programs."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.candidate import Scalar
from autotune.core.model import ModelFacts
from autotune.core.space import Offer, Parameter, SearchSpace
from autotune.core.workload import Workload
from autotune_search_spaces.composed import composed
from autotune_search_spaces.experts import Wishes, large_batch, offered, policies

__all__ = ["torch_space"]

_REFERENCE: dict[str, Scalar] = {"kernels": "eager", "intra_op_threads": 1}
_DECISIVE = ("kernels", "precision", "inference_precision", "linear_weights", "channels_last", "attention")
_COMPILED: Wishes = {"kernels": "inductor"}
_BFLOAT: Wishes = {"inference_precision": "bf16"}
_ONNX: Wishes = {"kernels": "onnxruntime"}
_INT8: Wishes = {**_ONNX, "precision": "int8_dynamic", "int8_per_channel": True}


def torch_space(model: ModelFacts, offers: Sequence[Offer], workload: Workload) -> SearchSpace:
    """PyTorch's exported programs, measured on this machine.

    The baseline is the program in PyTorch's own kernels. Raises ``UserError`` when nothing can run it.
    """
    return composed(model, offers, workload, experts=_experts, reference=_REFERENCE)


def _experts(parameters: Sequence[Parameter]) -> list[Wishes]:
    """Each kind of kernels once, as it is and with the formats that usually serve it; then with the batch for throughput."""
    large = large_batch(parameters)
    wishes: list[Wishes] = [
        *policies(parameters, _ONNX, {**_COMPILED, **_BFLOAT}),
        _ONNX,
        _BFLOAT,
        {**_COMPILED, **_BFLOAT},
        _INT8,
        _COMPILED,
        {"channels_last": True},
        {"linear_weights": "int8"},
        {**_ONNX, "batch_size": large},
        {**_COMPILED, **_BFLOAT, "batch_size": large},
        {**_BFLOAT, "batch_size": large},
        {**_BFLOAT, "channels_last": True},
        {"intra_op_threads": 1},
        {**_ONNX, "intra_op_threads": 1},
        {"attention": "math"},
    ]
    return [wish for wish in wishes if all(offered(name, wish, parameters) for name in _DECISIVE)]

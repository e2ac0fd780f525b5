"""What an engineer would try first with an ONNX model: usual winners, as wishes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotune.core.batching import INSTANCES, MAX_BATCH, QUEUE_DELAY
from autotune.core.candidate import Scalar
from autotune.core.recovery import RECOVERY
from autotune.core.space import Parameter

__all__ = ["Wishes", "experts", "large_batch", "offered", "policies"]

Wishes = Mapping[str, Scalar]

_DECISIVE = ("runtime", "precision", "inference_precision", "fusion")

_STATIC: Wishes = {"precision": "int8_static", "int8_per_channel": True}
_DYNAMIC: Wishes = {"precision": "int8_dynamic", "int8_per_channel": True, "int8_operators": "matmul"}
_FUSED: Wishes = {"fusion": "transformer"}
_OPENVINO: Wishes = {"runtime": "openvino"}
_BFLOAT: Wishes = {**_OPENVINO, "inference_precision": "bf16"}
_WEIGHTS: Wishes = {"precision": "int8_weights"}


def experts(parameters: Sequence[Parameter]) -> list[Wishes]:
    """Wishes in the order to try them: each way once, then with the batch that gives throughput, then the rarer ones.

    A wish for a runtime, a format or a fusion that is not offered is left out; other wishes are completed with what is.
    """
    large = large_batch(parameters)
    wishes: list[Wishes] = [
        *policies(parameters, _STATIC, _DYNAMIC),
        _STATIC,
        _DYNAMIC,
        _BFLOAT,
        {**_DYNAMIC, **_FUSED},
        _OPENVINO,
        {**_STATIC, "batch_size": large},
        {**_STATIC, "intra_op_threads": 1, "batch_size": large},
        {**_BFLOAT, "batch_size": large},
        {"batch_size": large},
        {"intra_op_threads": 1},
        {**_BFLOAT, "intra_op_threads": 1},
        {**_DYNAMIC, **_FUSED, "batch_size": large},
        {**_DYNAMIC, "batch_size": large},
        {**_DYNAMIC, "intra_op_threads": 1, "batch_size": large},
        {**_STATIC, "quantised_share": 0.75},
        {"pruning_ratio": 0.3},
        {**_STATIC, "pruning_ratio": 0.3},
        *_recoveries(parameters),
        {**_DYNAMIC, "quantised_share": 0.75},
        {**_WEIGHTS, "weight_block": 32},
        {"precision": "int4_weights", "weight_block": 32},
        {**_STATIC, "int8_static_operators": "products"},
        {"spinning": False},
        _FUSED,
        {**_DYNAMIC, "int8_operators": "all"},
        {"execution_mode": "parallel"},
        {"graph_optimization": "extended"},
    ]
    return [wish for wish in wishes if all(offered(name, wish, parameters) for name in _DECISIVE)]


def policies(parameters: Sequence[Parameter], *formats: Wishes) -> list[Wishes]:
    """Batch policies for a server, if there is one: whatever waits runs together; an instance a CPU; both, in these formats;
    then two instances that share the CPUs.
    """
    found = {parameter.name: parameter for parameter in parameters}
    if not found.keys() & {MAX_BATCH, INSTANCES}:
        return []
    eager: Wishes = {MAX_BATCH: 8, QUEUE_DELAY: 0.0}
    if INSTANCES not in found:
        return [eager, *({**form, **eager} for form in formats)]
    spread: Wishes = {"intra_op_threads": 1, INSTANCES: found[INSTANCES].choices[-1]}
    halves: Wishes = {"intra_op_threads": found[INSTANCES].requires["intra_op_threads"][-1], INSTANCES: 2}
    both = [{**form, **eager, **spread} for form in formats]
    return [eager, {**eager, **spread}, spread, *both, {**eager, **halves}]


def _recoveries(parameters: Sequence[Parameter]) -> list[Wishes]:
    """Half of the channels gone and the rest trained again, if that was asked for; in int8 too."""
    found = next((parameter for parameter in parameters if parameter.name == RECOVERY), None)
    if found is None or not found.choices:
        return []
    half: Wishes = {"pruning_ratio": 0.5, RECOVERY: found.choices[-1]}
    return [half, {**_STATIC, **half}]


def offered(name: str, wish: Wishes, parameters: Sequence[Parameter]) -> bool:
    """Whether what is wished of this parameter, if anything, is among its values."""
    return name not in wish or any(one.name == name and one.holds(wish[name]) for one in parameters)


def large_batch(parameters: Sequence[Parameter]) -> int:
    """A batch that fills the caches of most CPUs without leaving them: 16, or the largest that there is."""
    sizes = next((parameter.choices for parameter in parameters if parameter.name == "batch_size"), (1,))
    return max(int(size) for size in sizes if int(size) <= 16)

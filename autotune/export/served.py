"""A language model's point as what serves it needs to be told: read once from the front, written in several formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.front import Point

__all__ = ["ServedModel", "engine_arguments", "served_model"]

_GPU_RESOURCES = {"mi": "amd.com/gpu"}  # the prefix of a device's name → what Kubernetes counts; else NVIDIA's
_IN_PLACE = {"fp8": "fp8"}  # formats that vLLM converts to while it loads a 16-bit checkpoint
_DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}


@dataclass(frozen=True)
class ServedModel:
    """``devices`` of one replica. ``precision`` of its weights; ``arguments`` are vLLM's engine arguments by name, as its
    command line and its Python classes call them (https://docs.vllm.ai/en/stable/configuration/engine_args).
    ``resource`` is what a Kubernetes node offers of the device. ``quantised``: the checkpoint must come in that precision.
    """

    model: str
    name: str
    device: str
    devices: int
    replicas: int
    precision: str
    quantised: bool
    resource: str
    arguments: dict[str, Any]


def served_model(point: Point, device: DeviceSpec, model: str) -> ServedModel:
    """Read the point. Raises ``UserError`` for what no engine serves as it was simulated."""
    candidate = point.candidate
    if candidate.get("batching", "continuous") != "continuous":
        raise UserError(f"{point.id} batches statically, and vLLM does not", "choose another point with --point")
    if device.device_class != "gpu":
        raise UserError(f"{point.id} is for {device.name}, and these formats are for GPUs", "choose another point")
    devices = int(candidate.get("tp", 1)) * int(candidate.get("pp", 1))
    counted = point.metrics.get("device_count")
    precision = str(candidate.get("precision", "bf16"))
    return ServedModel(
        model=model,
        name=_label(model),
        device=device.name,
        devices=devices,
        replicas=max(1, round((counted.value if counted and counted.value else devices) / devices)),
        precision=precision,
        quantised=precision not in _DTYPES and precision not in _IN_PLACE,
        resource=next(
            (name for start, name in _GPU_RESOURCES.items() if device.name.startswith(start)), "nvidia.com/gpu"
        ),
        arguments=engine_arguments(dict(candidate)),
    )


def engine_arguments(candidate: dict[str, Any]) -> dict[str, Any]:
    """VLLM's engine arguments for a candidate; what the candidate does not say is left to the engine."""
    names = {
        "tp": "tensor_parallel_size",
        "pp": "pipeline_parallel_size",
        "max_num_seqs": "max_num_seqs",
        "max_batched_tokens": "max_num_batched_tokens",
        "chunked_prefill": "enable_chunked_prefill",
        "prefix_caching": "enable_prefix_caching",
        "page_tokens": "block_size",
    }
    found = {theirs: candidate[ours] for ours, theirs in names.items() if ours in candidate}
    precision = str(candidate.get("precision", ""))
    if precision in _DTYPES:
        found["dtype"] = _DTYPES[precision]
    if precision in _IN_PLACE:
        found["quantization"] = _IN_PLACE[precision]
    found["kv_cache_dtype"] = str(candidate.get("kv_precision", "auto"))
    return found


def _label(model: str) -> str:
    """A name that Kubernetes takes: RFC 1123, 63 characters."""
    kept = "".join(letter if letter.isalnum() else "-" for letter in model.lower())
    return kept.strip("-")[:63].rstrip("-") or "model"

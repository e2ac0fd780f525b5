"""A language model's point as what serves it needs to be told: read once from the front, written in several formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autotune.core.candidate import Scalar
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.front import Point

__all__ = ["DTYPES", "IN_PLACE", "ServedModel", "served_model"]

_GPU_RESOURCES = {"mi": "amd.com/gpu"}  # the prefix of a device's name → what Kubernetes counts; else NVIDIA's
IN_PLACE = {"fp8": "fp8"}  # formats that vLLM converts to while it loads a 16-bit checkpoint
DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}


@dataclass(frozen=True)
class ServedModel:
    """``devices`` of one replica. ``precision`` of its weights; ``candidate`` is the point's, which each engine's format reads
    by that engine's names. ``resource`` is what a Kubernetes node offers of the device. ``quantised``: the checkpoint must
    come in that precision.
    """

    model: str
    name: str
    device: str
    devices: int
    replicas: int
    precision: str
    quantised: bool
    resource: str
    candidate: Mapping[str, Scalar]

    @property
    def checkpoint(self) -> str:
        """What has to be there: ``"a checkpoint quantised to int4"``."""
        pattern = str(self.candidate.get("sparsity", "none"))
        needs = [f"quantised to {self.precision}"] if self.quantised else []
        if pattern != "none":
            needs.append(f"pruned to {pattern}, and an engine that has kernels for it")
        return f"a checkpoint {' and '.join(needs)}" if needs else "the model's checkpoint"


def served_model(point: Point, device: DeviceSpec, model: str) -> ServedModel:
    """Read the point. Raises ``UserError`` for what no engine serves as it was simulated."""
    candidate = point.candidate
    if candidate.get("batching", "continuous") != "continuous":
        raise UserError(f"{point.id} batches statically, and vLLM does not", "choose another point with --point")
    if device.device_class != "gpu":
        raise UserError(f"{point.id} is for {device.name}, and these formats are for GPUs", "choose another point")
    if candidate.get("decode_device", "none") != "none":
        raise UserError(
            f"{point.id} decodes on other devices, and these formats are for one server", "choose another point"
        )
    if candidate.get("preemption", "recompute") != "recompute":
        raise UserError(f"{point.id} swaps to the host, and engines compute again", "choose another point with --point")
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
        quantised=precision not in DTYPES and precision not in IN_PLACE,
        resource=next(
            (name for start, name in _GPU_RESOURCES.items() if device.name.startswith(start)), "nvidia.com/gpu"
        ),
        candidate=dict(candidate),
    )


def _label(model: str) -> str:
    """A name that Kubernetes takes: RFC 1123, 63 characters."""
    kept = "".join(letter if letter.isalnum() else "-" for letter in model.lower())
    return kept.strip("-")[:63].rstrip("-") or "model"

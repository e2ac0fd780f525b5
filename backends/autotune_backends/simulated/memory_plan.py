"""Where the memory goes: weights, working space, and what is left for KV pages."""

from __future__ import annotations

from dataclasses import dataclass

from autotune_backends.simulated.devices.device import SimulatedDevice
from autotune_backends.simulated.layout import Layout
from autotune_backends.simulated.refusals import DoesNotFit
from autotune_backends.simulated.transformers.model import TransformerModel

__all__ = ["MemoryPlan", "kv_bytes_per_token", "memory_plan", "weight_bytes"]

_RUNTIME_SHARE = 0.01  # of a device's memory: context, communication buffers, captured graphs
_GIB = 1024.0**3


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Of all devices of a replica together, in bytes; pages hold ``page_tokens`` each."""

    weight_bytes: int
    kv_bytes_per_token: float
    kv_capacity_tokens: int
    page_tokens: int


def weight_bytes(model: TransformerModel, layout: Layout) -> float:
    """Of one copy. Embeddings, the output layer and norms stay in 16 bits (32 in fp32), as quantisers leave them."""
    outer = 4.0 if layout.precision.weight_bits >= 32 else 2.0
    density = _DENSITY[layout.sparsity]
    inner = model.layer_parameters * layout.precision.weight_bits / 8 * density
    return inner + outer * (model.parameters - model.layer_parameters)


_DENSITY = {"none": 1.0, "2:4": 0.5625, "unstructured": 0.75}
"""Stored over dense bytes: 2:4 keeps half of the values and 2 bits of position for each; unstructured at half density keeps
a bitmap beside 16-bit values and gains less (NVIDIA's and Flash-LLM's, arXiv 2309.10285, formats)."""


def kv_bytes_per_token(model: TransformerModel, layout: Layout) -> float:
    """Of all devices together: heads that cannot be divided any more are held on several; a latent cache on every one."""
    one = model.kv_elements_per_token * layout.kv_bits / 8
    copies = layout.tp if model.latent is not None else max(1.0, layout.tp / model.kv_heads)
    return one * copies


def memory_plan(model: TransformerModel, device: SimulatedDevice, layout: Layout) -> MemoryPlan:
    """Raises ``DoesNotFit`` when weights and one page of a KV cache do not."""
    weights, per_token = weight_bytes(model, layout), kv_bytes_per_token(model, layout)
    room = device.memory_bytes * (layout.memory_share - _RUNTIME_SHARE) * layout.devices
    working = _working_bytes(model, layout)
    free = room - weights - working
    pages = int(free / (per_token * layout.page_tokens)) if free > 0 else 0
    if pages < 1:
        needed = weights + working + per_token * layout.page_tokens
        raise DoesNotFit(_said(model, device, layout, needed, room), needed, room)
    return MemoryPlan(int(weights), per_token, pages * layout.page_tokens, layout.page_tokens)


def _working_bytes(model: TransformerModel, layout: Layout) -> float:
    """Activations of the largest batch: a layer's widest tensors, and the logits of every sequence, in 16 and 32 bits."""
    width = max(model.intermediate, model.active_experts * model.expert_intermediate) * (2 if model.gated else 1)
    rows = layout.max_batched_tokens * (width / layout.tp + 4.0 * model.hidden) * 2.0 * layout.devices
    return rows + layout.max_num_seqs * model.vocabulary * 4.0


def _said(model: TransformerModel, device: SimulatedDevice, layout: Layout, needed: float, room: float) -> str:
    many = f"{layout.devices} x {device.name}" if layout.devices > 1 else device.name
    return (
        f"{model.name} in {layout.precision.name} does not fit {many}: "
        f"needs {needed / _GIB:.1f} GiB, has {room / _GIB:.1f} GiB"
    )

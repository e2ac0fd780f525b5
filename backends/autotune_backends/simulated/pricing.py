"""The kernels of one pass through a model's layers, priced on a device: floats, ready for the simulator's inner loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from autotune_backends.simulated import fitted
from autotune_backends.simulated.devices.device import SimulatedDevice
from autotune_backends.simulated.layout import Layout
from autotune_backends.simulated.memory_plan import kv_bytes_per_token, weight_bytes
from autotune_backends.simulated.operators import (
    AllReduceCost,
    AttentionCost,
    GemmCost,
    all_reduce_cost,
    attention_cost,
    gemm_cost,
)
from autotune_backends.simulated.operators.efficiency import compute_peak, gemm_share, memory_share
from autotune_backends.simulated.precision import PRECISIONS, Precision
from autotune_backends.simulated.transformers.model import Matrix, TransformerModel

__all__ = ["Basis", "LayerCosts", "StepWork", "doubt_of", "layer_costs"]

Basis = Literal["fitted", "interpolated", "roofline"]

_SMALL_KERNELS = (
    5.0  # a layer's norms, rotary embedding, cache write and activation, fused as serving engines fuse them
)
_SPARSE_SPEEDUP = {"none": 1.0, "2:4": 1.5, "unstructured": 1.0}
"""2:4 is twice the dense peak on paper; measured products reach 1.3 to 1.6 (arXiv 2104.08378, figure 3)."""
_DENSITY = {"none": 1.0, "2:4": 0.5625, "unstructured": 0.75}
_UNTESTED = 0.50  # judgement: of a kind of device, or under software, of which nothing was measured here
_TESTED = ("gpu", "cuda")  # what every device with measured kernels is, and runs
_DOUBT = {"high": 0.0, "medium": 0.15, "low": 0.40}  # of a device's figures, beside the error of what is made of them


@dataclass(frozen=True, slots=True)
class StepWork:
    """What a step does on one device: operations, and bytes of weights and KV cache that are read."""

    flops: float
    bytes: float


@dataclass(frozen=True, slots=True)
class LayerCosts:
    """``gemms``: (how many layers have it, its cost). ``flops_per_token`` and ``pair_flops`` are of the whole model."""

    gemms: tuple[tuple[int, GemmCost], ...]
    head: GemmCost
    attention: AttentionCost
    all_reduce: AllReduceCost
    layers: int
    reduces: int
    small_s: float
    row_s: float
    message_bytes: float
    host_s: float
    host_sequence_s: float
    kv_token_s: float
    flops_per_token: float
    pair_flops: float
    weight_bytes: float
    kv_bytes: float
    peak: float
    bandwidth: float
    interval: float
    basis: Basis

    def seconds(  # the hot path: no object is made for a step
        self, rows: float, outputs: float, pairs: float, cached: float, decodes: float, kv_tokens: float
    ) -> float:
        """Of one step; ``rows`` are tokens that pass the layers, ``outputs`` those that get logits."""
        total = self.small_s + rows * self.row_s + self.head.seconds(outputs)
        for count, gemm in self.gemms:
            total += count * gemm.seconds(rows)
        total += self.reduces * self.all_reduce.seconds(rows * self.message_bytes)
        per_layer = pairs * self.attention.pair_s + cached * self.attention.kv_token_s
        if pairs:
            per_layer += self.attention.prefill_floor_s
        if decodes:
            per_layer += self.attention.decode_floor_s
        return (
            total + self.layers * per_layer + kv_tokens * self.kv_token_s + self.host_s + decodes * self.host_sequence_s
        )

    def work(self, tokens: float, pairs: float, cached: float, devices: int, passes: float = 1.0) -> StepWork:
        """On each of ``devices``. Every weight is read once in each of ``passes``, the microbatches; experts that no token
        needs are counted too.
        """
        flops = tokens * self.flops_per_token + pairs * self.pair_flops
        moved = passes * self.weight_bytes + cached * self.kv_bytes
        return StepWork(flops / devices, moved / devices)


def layer_costs(model: TransformerModel, device: SimulatedDevice, layout: Layout) -> LayerCosts:
    """Price every kernel of a step. The layout was checked: the device has the arithmetic and the links."""
    attention = _attention(model, device, layout)
    reduce = all_reduce_cost(device, layout.tp)
    basis = _basis(device, layout, reduce)
    return LayerCosts(
        gemms=tuple((matrix.layers, _matrix_cost(matrix, device, layout)) for matrix in model.matrices),
        head=gemm_cost(device, _outer(device, layout.precision), model.vocabulary / layout.tp, model.hidden),
        attention=attention,
        all_reduce=reduce,
        layers=model.layers,
        reduces=2 * model.layers if layout.tp > 1 else 0,
        small_s=model.layers * _SMALL_KERNELS * device.launch_s + (layout.pp - 1) * _hop_s(device),
        row_s=model.layers * _small_bytes(model, layout) / (device.bandwidth * 0.8),
        message_bytes=2.0 * model.hidden,
        host_s=device.host_step_s if device.host_step_s is not None else layout.engine.step_s,
        host_sequence_s=layout.engine.sequence_s,
        kv_token_s=model.layers * attention.kv_token_s,
        flops_per_token=2.0 * model.active_parameters,
        pair_flops=4.0 * model.layers * model.heads * _head_width(model),
        weight_bytes=weight_bytes(model, layout)
        - (0 if model.tied_embeddings else 2.0 * model.vocabulary * model.hidden),
        kv_bytes=kv_bytes_per_token(model, layout),
        peak=compute_peak(device, layout.precision) or 1.0,
        bandwidth=device.bandwidth,
        interval=_interval(basis, device),
        basis=basis,
    )


def doubt_of(device: SimulatedDevice) -> float:
    """What the device's figures add to the relative error within which 80 % of measurements lie."""
    return _DOUBT.get(device.confidence, 0.4)


def _matrix_cost(matrix: Matrix, device: SimulatedDevice, layout: Layout) -> GemmCost:
    columns = layout.tp if matrix.split == "columns" else 1
    rows = layout.tp if matrix.split == "rows" else 1
    return gemm_cost(
        device,
        _outer(device, layout.precision) if matrix.name == "router" else layout.precision,
        matrix.outputs / columns,
        matrix.inputs / rows,
        experts=matrix.experts,
        active=matrix.active,
        speedup=_SPARSE_SPEEDUP[layout.sparsity],
        density=_DENSITY[layout.sparsity],
        fused=True,
    )


def _attention(model: TransformerModel, device: SimulatedDevice, layout: Layout) -> AttentionCost:
    here = kv_bytes_per_token(model, layout) / layout.tp / model.layers
    heads = model.heads / layout.tp
    decode = 2.0 * heads * (2 * model.latent.kv_rank + model.latent.rope_dim) if model.latent is not None else 0.0
    return attention_cost(device, heads, _head_width(model), here, decode)


def _head_width(model: TransformerModel) -> float:
    """The mean of keys' and values' width."""
    if model.latent is None:
        return float(model.head_dim)
    return (model.latent.nope_dim + model.latent.rope_dim + model.latent.value_dim) / 2


def _outer(device: SimulatedDevice, precision: Precision) -> Precision:
    """Of the output layer and the router: quantisers leave them in 16 bits, where the device can multiply those."""
    wide = PRECISIONS["bf16"]
    return precision if precision.weight_bits >= 16 or compute_peak(device, wide) is None else wide


def _small_bytes(model: TransformerModel, layout: Layout) -> float:
    """Bytes that the small kernels of a layer move for a token: two norms with residual, the gated activation."""
    width = model.intermediate if not model.experts else model.active_experts * model.expert_intermediate
    return 2.0 * (8.0 * model.hidden + 3.0 * width / layout.tp)


def _hop_s(device: SimulatedDevice) -> float:
    return 2.0 * device.link.latency_s if device.link is not None else 0.0


def _basis(device: SimulatedDevice, layout: Layout, reduce: AllReduceCost) -> Basis:
    if not device.fitted:
        return "roofline"
    measured = gemm_share(device, layout.precision)[1] and memory_share(device, layout.precision)[1]
    plain = layout.sparsity == "none" and layout.pp == 1
    return "fitted" if measured and reduce.fitted and plain else "interpolated"


def _interval(basis: Basis, device: SimulatedDevice) -> float:
    """Errors were seen on graphics processors under CUDA alone: what else has no measured kernels is believed less."""
    errors = fitted.fitted().errors
    sigma = {"fitted": errors.fitted, "interpolated": errors.interpolated, "roofline": errors.roofline}[basis]
    seen = fitted.interval_of(sigma)
    if basis == "roofline" and (device.device_class, device.software) != _TESTED:
        seen = max(seen, _UNTESTED)
    return seen + doubt_of(device)

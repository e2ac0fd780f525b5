"""Attention: prefill is bound by arithmetic, decode by reading the KV cache."""

from __future__ import annotations

from dataclasses import dataclass

from autotune_backends.simulated.devices.device import SimulatedDevice
from autotune_backends.simulated.operators.efficiency import (
    attention_decode_share,
    attention_prefill_share,
    compute_peak,
)
from autotune_backends.simulated.precision import PRECISIONS

__all__ = ["AttentionCost", "attention_cost", "causal_pairs"]

_TILE_KEYS = 256.0
"""Keys of the mask's diagonal that are computed in vain, and a tile's start and end, for each query: measured prefills of 1,024
tokens reach 0.83 of the rate of those of 2,048 on H100, H200, A100 and L40S alike."""


def causal_pairs(new: float, cached: float) -> float:
    """Pairs of query and key that kernels work on."""
    return new * (cached + 0.5 * new + _TILE_KEYS)


@dataclass(frozen=True, slots=True)
class AttentionCost:
    """Of one layer on one device. ``pair_s``: one query against one key, in all heads here; ``kv_token_s``: one token's
    keys and values read; ``decode_floor_s`` and ``prefill_floor_s``: what a kernel takes at least.
    """

    prefill_floor_s: float
    decode_floor_s: float
    pair_s: float
    kv_token_s: float

    def prefill(self, new: float, cached: float) -> float:
        """Causal: ``new`` tokens see those ``cached`` before them, and each other up to themselves. Without the floor."""
        return causal_pairs(new, cached) * self.pair_s + cached * self.kv_token_s

    def decode(self, kv_tokens: float) -> float:
        """One new token of any number of sequences that hold ``kv_tokens`` together."""
        return self.decode_floor_s + kv_tokens * self.kv_token_s


def attention_cost(
    device: SimulatedDevice, heads: float, width: float, kv_bytes: float, decode_flops: float = 0.0
) -> AttentionCost:
    """``heads`` here, each of ``width`` (the mean of keys' and values'); ``kv_bytes`` of one token here.

    ``decode_flops``: operations of one query against one cached token, where they may outweigh its bytes (latent attention).
    """
    peak = (compute_peak(device, PRECISIONS["bf16"]) or max(device.peak.values())) * attention_prefill_share(device)
    floor = device.attention_floor_s or 4.0 * device.launch_s
    bandwidth = device.internal_bandwidth or device.bandwidth
    reading = kv_bytes / (bandwidth * attention_decode_share(device))
    return AttentionCost(
        prefill_floor_s=device.attention_prefill_floor_s or 2.0 * floor,
        decode_floor_s=floor,
        pair_s=4.0 * heads * width / peak,
        kv_token_s=max(reading, decode_flops / peak),
    )

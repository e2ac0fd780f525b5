"""What fraction of the arithmetic peak the products of a graph reach, by what kind of product they are."""

from __future__ import annotations

from math import ceil
from typing import Final

from autotune.core.graph_work import Family, Product
from autotune_backends.simulated.devices.device import SimulatedDevice

__all__ = ["family_share", "tiles_used"]

_CONV: Final = 0.85
"""Of what large matrix products reach: a convolution gathers its rows first."""

_DEPTHWISE: Final = {"gpu": 0.06, "cpu": 0.25, "asic": 0.03, "fpga": 0.25, "pim": 0.06, "phone": 0.10}
"""Likewise: matrix units find no matrix in a depthwise convolution, and vector units compute it. An A100's do 1/16 of the
matrix units' bf16 rate, by its data sheet; the other figures are judgement."""

_TILES: Final = {"gpu": (8, 16), "cpu": (16, 1), "asic": (32, 32), "fpga": (8, 8), "pim": (16, 1), "phone": (32, 16)}
"""(columns, depth) of the smallest piece that a class's units compute; less is padded. A tensor core's ``mma`` has 8 columns and
a depth of 16 in 16 bits (NVIDIA, PTX ISA); an AVX-512 register holds 16 floats. Others are judgement."""

_ROWS: Final = 8  # to which a piece's rows are padded


def family_share(device: SimulatedDevice, family: Family) -> float:
    """Of the fraction that large matrix products reach there; measured, where the device's file says it."""
    if family == "conv":
        return device.efficiency.conv or _CONV
    if family == "depthwise":
        return device.efficiency.depthwise or _DEPTHWISE[device.device_class]
    return 1.0


def tiles_used(device: SimulatedDevice, product: Product) -> float:
    """The share of the units' work that is not padding, 0 to 1."""
    columns, depth = _TILES[device.device_class] if product.family != "depthwise" else (1, 1)
    rows = product.flops / (2.0 * product.outputs * product.inputs * product.steps)
    used = 1.0
    for size, tile in ((rows, _ROWS), (product.outputs, columns), (product.inputs, depth)):
        used *= max(size, 1e-9) / (tile * ceil(max(size, 1e-9) / tile))
    return used

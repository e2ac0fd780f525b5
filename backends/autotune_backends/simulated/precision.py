"""Number formats: how many bits a value takes in memory, and in which format it is multiplied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from autotune.core.errors import UserError, nearest

__all__ = ["KV_BITS", "PRECISIONS", "Precision", "precision_named"]


@dataclass(frozen=True, slots=True)
class Precision:
    """``weight_bits`` includes the scales of groups of 128; ``compute`` names the peak of the device that it multiplies at."""

    name: str
    weight_bits: float
    compute: str

    @property
    def weight_only(self) -> bool:
        """Whether activations stay in 16 bits, so that weights are unpacked before they are multiplied."""
        return self.weight_bits < 16 and self.compute == "bf16"


_GROUP_SCALE = 16 / 128  # bits a weight: one 16-bit scale for 128 weights

PRECISIONS: Final[dict[str, Precision]] = {
    one.name: one
    for one in (
        Precision("fp32", 32.0, "fp32"),
        Precision("tf32", 32.0, "tf32"),
        Precision("bf16", 16.0, "bf16"),
        Precision("fp16", 16.0, "fp16"),
        Precision("fp8", 8.0, "fp8"),
        Precision("int8", 8.0, "int8"),
        Precision("int8_weights", 8.0 + _GROUP_SCALE, "bf16"),
        Precision("int4", 4.0 + _GROUP_SCALE, "bf16"),
        Precision("fp4", 4.5, "fp4"),  # NVFP4: an 8-bit scale for 16 weights
        Precision("ternary", 2.0 + _GROUP_SCALE, "bf16"),  # 1.58 bits of information, packed in 2
        Precision("binary", 1.0 + _GROUP_SCALE, "bf16"),
    )
}

KV_BITS: Final[dict[str, float]] = {"fp32": 32.0, "bf16": 16.0, "fp16": 16.0, "fp8": 8.0, "int8": 8.0, "int4": 4.5}
"""Bits of one value of the KV cache."""


def precision_named(name: str) -> Precision:
    """Return the precision. Raises ``UserError`` with the nearest name."""
    if name not in PRECISIONS:
        raise UserError(f"unknown precision {name!r}{nearest(name, PRECISIONS)}", f"known: {', '.join(PRECISIONS)}")
    return PRECISIONS[name]

"""In which number format a graph's products are computed on a device, and in which everything else is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from autotune.core.errors import UserError, nearest
from autotune_backends.simulated.devices.device import SimulatedDevice
from autotune_backends.simulated.operators.efficiency import lacking
from autotune_backends.simulated.precision import PRECISIONS, Precision
from autotune_backends.simulated.refusals import Unsupported

__all__ = ["FORMATS", "GraphFormat", "format_on", "formats_on"]

FORMATS: Final = ("fp32", "tf32", "fp16", "bf16", "fp8", "int8")
"""In the order in which they are looked at; what stores weights alone in fewer bits is for language models."""

_WIDE: Final = ("fp16", "bf16", "fp32")


@dataclass(frozen=True, slots=True)
class GraphFormat:
    """``precision`` of products with constant weights; ``wide`` of all other arithmetic and of what passes between kernels."""

    precision: Precision
    wide: Precision

    @property
    def value_bits(self) -> float:
        """Of a floating value between kernels, or of a constant that no product is with."""
        return self.wide.weight_bits


def format_on(device: SimulatedDevice, name: str) -> GraphFormat:
    """The format of that name there. Raises ``Unsupported`` where the device has no units for it, ``UserError`` for no name.

    Nothing stands in for another format: a graph is converted, and whoever asks for fp16 gets fp16 or a reason.
    """
    if name not in FORMATS:
        raise UserError(f"unknown precision {name!r}{nearest(name, FORMATS)}", f"of graphs: {', '.join(FORMATS)}")
    precision = PRECISIONS[name]
    if precision.compute not in device.peak:
        raise Unsupported(lacking(device, precision))
    if precision.weight_bits >= 16:
        return GraphFormat(precision, precision)
    wide = next((PRECISIONS[one] for one in _WIDE if one in device.peak), precision)
    return GraphFormat(precision, wide)


def formats_on(device: SimulatedDevice) -> tuple[str, ...]:
    """The names that the device has units for, widest first."""
    return tuple(name for name in FORMATS if PRECISIONS[name].compute in device.peak)

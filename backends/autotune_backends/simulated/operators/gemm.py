"""Matrix products: ``[tokens, inputs] x [inputs, outputs]``."""

from __future__ import annotations

from dataclasses import dataclass

from autotune_backends.simulated.devices.device import SimulatedDevice
from autotune_backends.simulated.operators.efficiency import compute_peak, gemm_share, memory_share
from autotune_backends.simulated.operators.roofline import overlapped
from autotune_backends.simulated.precision import Precision

__all__ = ["GemmCost", "gemm_cost"]

_FUSED_SHARE = 0.25  # of the time that quantising activations takes in a kernel of its own
_LEAST_ROWS = 8.0  # of products with few rows: tensor cores' rows are padded to this many at least


@dataclass(frozen=True, slots=True)
class GemmCost:
    """Seconds of one product as a function of its rows; ``experts`` > 0: of one that is spread over experts.

    ``weights_s``: reading all weights of one expert. ``row_s``: moving one row's inputs and outputs. ``compute_s``: of a row.
    """

    floor_s: float
    weights_s: float
    row_s: float
    compute_s: float
    experts: int = 0
    active: int = 0

    def seconds(self, rows: float) -> float:
        """Of a product of so many rows; 0 rows take no time."""
        if rows <= 0.0:
            return 0.0
        if self.experts:
            return self._spread(rows)
        padded = rows if rows > _LEAST_ROWS else _LEAST_ROWS
        return self.floor_s + overlapped(padded * self.compute_s, self.weights_s + rows * self.row_s)

    def _spread(self, rows: float) -> float:
        """Rows go to experts evenly at random: each is read when at least one row needs it."""
        touched = self.experts * (1.0 - (1.0 - self.active / self.experts) ** rows)
        work = rows * self.active
        return self.floor_s + overlapped(work * self.compute_s, touched * self.weights_s + work * self.row_s)


def gemm_cost(  # noqa: PLR0913  # a shape, and what is special about it
    device: SimulatedDevice,
    precision: Precision,
    outputs: float,
    inputs: float,
    *,
    experts: int = 0,
    active: int = 0,
    speedup: float = 1.0,
    density: float = 1.0,
    fused: bool = False,
) -> GemmCost:
    """The cost on the device. ``speedup``: of sparse arithmetic; ``density``: stored bytes over dense bytes; ``fused``: the
    kernel before it quantises its activations, as serving engines do, which saves most of what its floor is above bf16's.

    Raises ``ValueError`` when the device lacks the precision's arithmetic.
    """
    peak = compute_peak(device, precision)
    if peak is None:
        raise ValueError(precision.compute)
    read = (device.internal_bandwidth or device.bandwidth) * memory_share(device, precision)[0]
    plain = device.gemm_floor_s.get("bf16", 1.5 * device.launch_s)
    floor = device.gemm_floor_s.get(precision.name, plain)
    if fused:
        floor = min(floor, plain + _FUSED_SHARE * (floor - plain))
    return GemmCost(
        floor_s=floor,
        weights_s=outputs * inputs * precision.weight_bits / 8 * density / read,
        row_s=(outputs + inputs) * 2.0 / (device.bandwidth * 0.8),
        compute_s=2.0 * outputs * inputs / (peak * gemm_share(device, precision)[0] * speedup),
        experts=experts,
        active=active,
    )

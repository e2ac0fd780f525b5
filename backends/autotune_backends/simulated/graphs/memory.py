"""What a graph needs of a device's memory while it runs, and whether there is as much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.core.graph_work import GraphWork
from autotune_backends.simulated.devices.device import SimulatedDevice
from autotune_backends.simulated.graphs.formats import GraphFormat
from autotune_backends.simulated.graphs.kernels import Kernel, peak_values
from autotune_backends.simulated.refusals import DoesNotFit

__all__ = ["GraphMemory", "graph_memory", "tensor_bytes"]

_MIB = 1024.0**2


@dataclass(frozen=True, slots=True)
class GraphMemory:
    """Bytes of all constants, and of the activations that are alive at once when that is most."""

    weight_bytes: float
    activation_bytes: float

    @property
    def total_bytes(self) -> float:
        """Both. What a runtime takes for itself is not in it."""
        return self.weight_bytes + self.activation_bytes


def tensor_bytes(work: GraphWork, name: str, values: int, bits: float) -> float:
    """Of so many values of a tensor; ``bits`` are a floating value's, others stay as they are in the file."""
    size = work.tensors[name]
    return values * (bits if size.floating else size.bits) / 8


def graph_memory(
    work: GraphWork, kernels: Sequence[Kernel], device: SimulatedDevice, format: GraphFormat, density: float
) -> GraphMemory:
    """Raises ``DoesNotFit`` with what it needs and what there is. ``density``: stored over dense bytes of product weights."""
    narrow = {name for kernel in kernels for name in kernel.product_weights}
    weights = 0.0
    for name, size in work.weights.items():
        bits = format.precision.weight_bits if name in narrow else format.value_bits
        weights += tensor_bytes(work, name, size.values, bits) * (density if name in narrow else 1.0)
    alive = peak_values(work, kernels)
    activations = sum(tensor_bytes(work, name, values, format.value_bits) for name, values in alive.items())
    memory = GraphMemory(weights, activations)
    room = device.memory_bytes * device.usable_share
    if memory.total_bytes > room:
        raise DoesNotFit(
            f"in {format.precision.name} it does not fit {device.name}: "
            f"needs {memory.total_bytes / _MIB:,.0f} MiB, has {room / _MIB:,.0f} MiB",
            memory.total_bytes,
            room,
        )
    return memory

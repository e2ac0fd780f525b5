"""A graph's kernels priced on a device: seconds, launches, bytes, memory, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from autotune.core.candidate import Scalar
from autotune.core.errors import UserError, nearest
from autotune.core.graph_work import GraphWork, Product
from autotune_backends.simulated.devices.device import SimulatedDevice
from autotune_backends.simulated.graphs.families import family_share, tiles_used
from autotune_backends.simulated.graphs.formats import GraphFormat, format_on
from autotune_backends.simulated.graphs.kernels import Fusion, Kernel
from autotune_backends.simulated.graphs.memory import GraphMemory, graph_memory, tensor_bytes
from autotune_backends.simulated.graphs.reading import Graph
from autotune_backends.simulated.graphs.traffic import at_once, bandwidth_at, times_moved
from autotune_backends.simulated.operators import gemm_cost
from autotune_backends.simulated.operators.efficiency import compute_peak, gemm_share, memory_share
from autotune_backends.simulated.precision import Precision
from autotune_backends.simulated.pricing import Basis, doubt_of
from autotune_backends.simulated.refusals import Unsupported

__all__ = ["GraphCosts", "graph_costs"]

_SPEEDUP: Final = {"none": 1.0, "2:4": 1.5}
_DENSITY: Final = {"none": 1.0, "2:4": 0.5625}
"""As for language models: measured products gain less than twice the speed, and two bits of position are stored a value."""

_TOO_LITTLE = 0.25  # of the nodes: with more that cannot be priced, what is left says nothing of the graph


_WITHIN: Final[dict[Basis, float]] = {"fitted": 0.35, "interpolated": 0.55, "roofline": 0.75}
"""Relative errors within which 80 % of measurements are taken to lie, beside the doubt of the device's figures. The first makes a
half with a device of medium confidence, within which seven of nine models were priced on one thread (``backends/README.md``).
The others are judgement: no graph was ever compared with a measurement on such a device."""


@dataclass(frozen=True, slots=True)
class GraphCosts:
    """Of one run. ``flops`` and ``moved_bytes`` of all kernels; ``peak`` and ``bandwidth`` are the device's own.

    ``basis`` says where the kernels' efficiencies are from; ``unpriced``: the share of nodes of which nothing is known.
    """

    seconds: float
    launches: int
    flops: float
    moved_bytes: float
    memory: GraphMemory
    peak: float
    bandwidth: float
    basis: Basis
    unpriced: float

    def interval(self, device: SimulatedDevice) -> float:
        """The relative error within which 80 % of measurements are taken to lie."""
        return _WITHIN[self.basis] + doubt_of(device)

    @property
    def compute_utilisation(self) -> float:
        """Of the arithmetic peak, 0 to 1."""
        return min(1.0, self.flops / (self.seconds * self.peak)) if self.seconds else 0.0

    @property
    def memory_utilisation(self) -> float:
        """Of the bandwidth, 0 to 1."""
        return min(1.0, self.moved_bytes / (self.seconds * self.bandwidth)) if self.seconds else 0.0


def graph_costs(graph: Graph, device: SimulatedDevice, candidate: Mapping[str, Scalar]) -> GraphCosts:
    """Price one run. Raises ``Unsupported`` and ``DoesNotFit`` with the reason, ``UserError`` for values that nobody knows."""
    work = graph.work
    _refuse_unpriced(work)
    chosen = format_on(device, str(candidate.get("precision", "fp32")))
    sparsity = _sparsity(device, str(candidate.get("sparsity", "none")))
    kernels = graph.kernels(_fusion(device, candidate))
    memory = graph_memory(work, kernels, device, chosen, _DENSITY[sparsity])
    pricing = _Pricing(work, device, chosen, sparsity, memory.weight_bytes)
    return GraphCosts(
        seconds=sum(pricing.seconds(kernel) for kernel in kernels),
        launches=sum(_launches(kernel) for kernel in kernels),
        flops=work.flops,
        moved_bytes=sum(sum(pricing.moved(kernel)) for kernel in kernels),
        memory=memory,
        peak=compute_peak(device, chosen.precision) or 1.0,
        bandwidth=device.bandwidth,
        basis=_basis(device, chosen),
        unpriced=work.unpriced_share,
    )


@dataclass(frozen=True, slots=True)
class _Pricing:
    """What every kernel is priced with. ``all_weights``: bytes of all constants, which come by once in a run."""

    work: GraphWork
    device: SimulatedDevice
    format: GraphFormat
    sparsity: str
    all_weights: float

    def seconds(self, kernel: Kernel) -> float:
        """Launch, and arithmetic and traffic at once."""
        weights, activations = self.moved(kernel)
        wide = memory_share(self.device, self.format.wide)[0]
        traffic_s = activations / (bandwidth_at(self.device, activations) * wide)
        constants = bandwidth_at(self.device, self.all_weights)
        if kernel.product is None:
            return self.device.launch_s + traffic_s + weights / (constants * wide)
        precision = self._precision(kernel)
        traffic_s += weights / ((self.device.internal_bandwidth or constants) * memory_share(self.device, precision)[0])
        floor_s, compute_s = self._product(kernel, kernel.product)
        return floor_s + at_once(self.device, compute_s, traffic_s)

    def moved(self, kernel: Kernel) -> tuple[float, float]:
        """(bytes of constants, bytes of activations) that go between the kernel and the memory."""
        own = kernel.product_weights
        density = _DENSITY[self.sparsity]
        constants = 0.0
        for name, values in kernel.weights.items():
            narrow = name in own
            bits = self._precision(kernel).weight_bits if narrow else self.format.value_bits
            constants += tensor_bytes(self.work, name, values, bits) * (density if narrow else 1.0)
        activations = sum(
            tensor_bytes(self.work, name, values, self.format.value_bits) for name, values in kernel.reads.items()
        )
        activations += sum(
            tensor_bytes(self.work, name, self.work.tensors[name].values, self.format.value_bits)
            for name in kernel.writes
        ) * times_moved(self.device)
        return constants, activations

    def _precision(self, kernel: Kernel) -> Precision:
        """Products of two activations, as in attention, stay in the wide format."""
        return self.format.precision if kernel.product_weights else self.format.wide

    def _product(self, kernel: Kernel, product: Product) -> tuple[float, float]:
        """(seconds of its launches, seconds of its arithmetic)."""
        sparse = _SPEEDUP[self.sparsity] if kernel.product_weights else 1.0
        precision = self._precision(kernel)
        cost = gemm_cost(self.device, precision, product.outputs, product.inputs, speedup=sparse, fused=True)
        rows = product.flops / (2.0 * product.outputs * product.inputs)
        reached = family_share(self.device, product.family) * tiles_used(self.device, product)
        return product.steps * cost.floor_s, rows * cost.compute_s / reached


def _launches(kernel: Kernel) -> int:
    return kernel.product.steps if kernel.product is not None else 1


def _refuse_unpriced(work: GraphWork) -> None:
    if not work.nodes or work.unpriced_share > _TOO_LITTLE:
        first = work.unpriced[0] if work.unpriced else None
        why = f"; {first.operator}: {first.reason}" if first else ""
        raise Unsupported(
            f"{len(work.unpriced)} of {len(work.unpriced) + len(work.nodes)} operators cannot be priced{why}"
        )


def _sparsity(device: SimulatedDevice, name: str) -> str:
    if name not in _SPEEDUP:
        raise UserError(f"unknown sparsity {name!r}{nearest(name, _SPEEDUP)}", f"of graphs: {', '.join(_SPEEDUP)}")
    if name != "none" and name not in device.sparsity:
        raise Unsupported(f"{device.name} has no hardware for {name} sparsity")
    return name


def _fusion(device: SimulatedDevice, candidate: Mapping[str, Scalar]) -> Fusion:
    """As the device's software has it, unless the candidate says ``none``: CPUs run onnxruntime, others what a compiler made."""
    known = ("usual", "none")
    asked = str(candidate.get("fusion", "usual"))
    if asked not in known:
        raise UserError(f"fusion={asked!r} is unknown{nearest(asked, known)}", f"known: {', '.join(known)}")
    if asked == "none":
        return "none"
    return "runtime" if device.device_class == "cpu" else "compiler"


def _basis(device: SimulatedDevice, format: GraphFormat) -> Basis:
    """``fitted`` only where graphs' own kernels were measured, in this format: what the large products of language models
    reach says less of a graph's.
    """
    if not device.fitted:
        return "roofline"
    graphs = device.efficiency.conv is not None and device.efficiency.depthwise is not None
    known = gemm_share(device, format.precision)[1] and memory_share(device, format.precision)[1]
    return "fitted" if known and graphs else "interpolated"

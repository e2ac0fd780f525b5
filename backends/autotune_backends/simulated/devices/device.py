"""A device one does not own, as data: what it can compute, hold and move, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autotune.core.device import DeviceClass, DeviceSpec
from autotune_backends.simulated.devices.residual import Residual

__all__ = ["Efficiency", "Link", "Power", "SimulatedDevice"]


@dataclass(frozen=True, slots=True)
class Efficiency:
    """The fractions of a peak that kernels reach, by precision; the class's own where none was measured.

    ``gemm``: of the arithmetic peak, large shapes. ``memory``: of the bandwidth, while weights are read for few tokens.
    ``attention_prefill``: of the 16-bit peak. ``attention_decode``: of the bandwidth. ``conv`` and ``depthwise``: what such
    convolutions reach of what ``gemm`` says, in graphs.
    """

    gemm: Mapping[str, float] = field(default_factory=dict)
    memory: Mapping[str, float] = field(default_factory=dict)
    attention_prefill: float | None = None
    attention_decode: float | None = None
    conv: float | None = None
    depthwise: float | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """What joins devices of a group. ``bandwidth`` in B/s in both directions together, ``latency_s`` of one message.

    ``all_reduce``: devices → (seconds of the smallest message, bytes of message a second), where it was measured.
    """

    kind: str
    bandwidth: float
    latency_s: float
    all_reduce: Mapping[int, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Power:
    """Watts: ``idle_w`` with a model loaded and nothing to do, ``peak_w`` the design limit.

    ``compute_gain`` and ``memory_gain``: how steeply use of each approaches the limit; None: not fitted to this device.
    ``battery_j``: what a full battery holds; None: there is none, or it is unknown.
    """

    idle_w: float
    peak_w: float
    compute_gain: float | None = None
    memory_gain: float | None = None
    battery_j: float | None = None


@dataclass(frozen=True, slots=True)
class SimulatedDevice:
    """``peak``: dense operations a second by precision. Bytes, B/s, seconds, watts, US dollars an hour.

    A field that is None is unknown. ``price_usd_per_h``, the rent, and ``purchase_usd``, the price of one device, are ranges.
    ``gemm_floor_s``: what a matrix product takes at least, by precision (quantising its activations included); ``launch_s``:
    what any kernel takes at least. ``near_bandwidth``: bytes that a kernel of a graph moves → B/s, where caches hold so much.
    ``supports``: what the device can run (``models``: name patterns; ``operators``: of a graph; absent: any).
    ``host_bandwidth``: between one device and its host's memory, in one direction. ``confidence`` is of the figures here.
    ``software``: whose kernels run on it (``cuda``, ``rocm``), None: unknown.
    ``calibration``: a table of points measured on it, ``residuals`` what they say; None, empty: none were.
    """

    name: str
    device_class: DeviceClass
    peak: Mapping[str, float]
    memory_bytes: int
    bandwidth: float
    launch_s: float
    gemm_floor_s: Mapping[str, float] = field(default_factory=dict)
    attention_floor_s: float | None = None
    attention_prefill_floor_s: float | None = None
    efficiency: Efficiency = field(default_factory=Efficiency)
    link: Link | None = None
    power: Power | None = None
    price_usd_per_h: tuple[float, float] | None = None
    price_as_of: str | None = None
    purchase_usd: tuple[float, float] | None = None
    lead_time_days: float | None = None
    build_s: float | None = None
    host_step_s: float | None = None
    internal_bandwidth: float | None = None
    near_bandwidth: Mapping[int, float] = field(default_factory=dict)
    host_bandwidth: float | None = None
    supports: Mapping[str, object] = field(default_factory=dict)
    sparsity: tuple[str, ...] = ()
    kv_pages: tuple[int, ...] = ()
    max_devices: int = 8
    confidence: str = "low"
    software: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    calibration: str | None = None
    residuals: tuple[Residual, ...] = ()

    @property
    def usable_share(self) -> float:
        """Of its memory, what a program may take: on a phone half, before the system ends it (an assumption); else 0.9."""
        return 0.5 if self.device_class == "phone" else 0.9

    @property
    def fitted(self) -> bool:
        """Whether its kernels' efficiencies were measured."""
        return bool(self.efficiency.gemm) and bool(self.efficiency.memory)

    def spec(self) -> DeviceSpec:
        """How the hub knows it."""
        return DeviceSpec(
            name=self.name,
            kind="simulated",
            device_class=self.device_class,
            model=self.name,
            memory_bytes=self.memory_bytes,
        )

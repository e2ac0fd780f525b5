"""Seconds of one engine iteration of a language model on a group of simulated devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from autotune.core.candidate import Scalar
from autotune.core.errors import UserError
from autotune_backends.simulated.devices.device import SimulatedDevice
from autotune_backends.simulated.engines import Engine
from autotune_backends.simulated.layout import layout_of
from autotune_backends.simulated.memory_plan import MemoryPlan, memory_plan
from autotune_backends.simulated.operators.attention import causal_pairs
from autotune_backends.simulated.power import DevicePower, device_power
from autotune_backends.simulated.pricing import Basis, LayerCosts, StepWork, layer_costs
from autotune_backends.simulated.refusals import DoesNotFit, Infeasible, Unsupported
from autotune_backends.simulated.transformers.model import TransformerModel

__all__ = ["Basis", "DoesNotFit", "Infeasible", "StepCosts", "StepWork", "Unsupported", "step_costs"]

_COPIED = 0.8  # of the host link's rate, pages at a time: 25 of 32 GB/s over PCIe 4.0 x16, recalled, not verified
_SWAP_SPACE_BYTES = 4 * 1024.0**3  # of each device: the default of vLLM's --swap-space while it had one


@dataclass(frozen=True, slots=True)
class StepCosts:
    """Of one candidate on ``devices`` devices. ``interval``: relative error within which 80 % of measurements lie.

    Memory sizes are those of the whole group. ``host_bandwidth``: B/s between all devices together and their host's memory, in
    one direction, None: unknown; ``host_bytes`` of that memory hold swapped caches; ``copy_floor_s``: of one copy at least. Plain
    floats within: ``step_s`` takes microseconds.
    """

    layers: LayerCosts
    memory: MemoryPlan
    power: DevicePower | None
    devices: int
    stages: int
    engine: Engine
    interval: float
    basis: Basis
    host_bandwidth: float | None = None
    host_bytes: float = 0.0
    copy_floor_s: float = 0.0

    @property
    def kv_capacity_tokens(self) -> int:
        """What all KV pages together hold."""
        return self.memory.kv_capacity_tokens

    @property
    def page_tokens(self) -> int:
        """Tokens a KV page holds."""
        return self.memory.page_tokens

    @property
    def weight_bytes(self) -> int:
        """Of the group together."""
        return self.memory.weight_bytes

    @property
    def kv_bytes_per_token(self) -> float:
        """Of the group together."""
        return self.memory.kv_bytes_per_token

    @property
    def host_capacity_tokens(self) -> int:
        """Tokens whose caches the host's memory holds."""
        return int(self.host_bytes / self.kv_bytes_per_token)

    def swap_s(self, tokens: int) -> float:
        """Seconds in which the caches of so many tokens are copied to the host, or back; the bandwidth is known.

        Keys and values of a page lie together for each layer, and each is a copy of its own, which takes a launch at least: small
        pages are copied slowly (Kwon et al., "PagedAttention", SOSP 2023, 7.3).
        """
        copies = 2 * self.layers.layers * ceil(tokens / self.page_tokens)
        return max(copies * self.copy_floor_s, tokens * self.kv_bytes_per_token / (self.host_bandwidth or 1.0))

    def step_s(self, prefill: Sequence[tuple[int, int]], decodes: int, kv_tokens: int) -> float:
        """Seconds of a step that computes ``prefill``'s (new tokens, tokens cached before them), and one token of each of
        ``decodes`` sequences whose KV caches hold ``kv_tokens`` together. 0 when there is nothing to do.

        With pipeline stages the step's sequences are divided into as many microbatches, which are in flight at once, each in
        another stage. A token passes every stage, so that the step takes as long as its heaviest microbatch needs for all
        layers: a lone request gains nothing, and a batch gains what smaller microbatches are faster. A sequence is never
        divided. Assumed: stages of equal time, and that all microbatches wait for the slowest, so that beside one long prompt
        the gain is rather too small than too large.
        """
        pairs = cached = tokens = 0.0
        for new, before in prefill:
            tokens += new
            cached += before
            pairs += causal_pairs(new, before)
        if tokens == 0.0 and decodes == 0:
            return 0.0
        if self.stages > 1:
            return self._heaviest_s(prefill, decodes, kv_tokens, tokens, pairs, cached)
        return self.layers.seconds(tokens + decodes, len(prefill) + decodes, pairs, cached, decodes, kv_tokens)

    def _heaviest_s(
        self,
        prefill: Sequence[tuple[int, int]],
        decodes: int,
        kv_tokens: int,
        tokens: float,
        pairs: float,
        cached: float,
    ) -> float:
        """Seconds of a microbatch with an even share of everything, and of no sequence less than its whole."""
        flights = self.microbatches(len(prefill) + decodes)
        return self.layers.seconds(
            rows=max(ceil((tokens + decodes) / flights), *(new for new, _ in prefill), 0),
            outputs=ceil((len(prefill) + decodes) / flights),
            pairs=max(pairs / flights, *(causal_pairs(new, before) for new, before in prefill), 0.0),
            cached=max(cached / flights, *(before for _, before in prefill), 0.0),
            decodes=ceil(decodes / flights),
            kv_tokens=kv_tokens / min(flights, decodes) if decodes else 0.0,
        )

    def decode_line(self, decodes: int) -> tuple[float, float]:
        """(a, b): a step of nothing but ``decodes`` takes ``a + b * kv_tokens`` seconds."""
        return self.step_s((), decodes, 0), self.layers.kv_token_s / self.microbatches(decodes)

    def microbatches(self, sequences: float) -> float:
        """In flight at once: one a stage, each of one sequence at least. ``sequences`` may be a mean over steps."""
        return max(1.0, min(float(self.stages), sequences))

    def work(self, prefill: Sequence[tuple[int, int]], decodes: int, kv_tokens: int) -> StepWork:
        """Operations and bytes of such a step, on each device."""
        tokens = decodes + sum(new for new, _ in prefill)
        pairs = sum(new * (before + 0.5 * new) for new, before in prefill) + kv_tokens
        if tokens == 0:
            return StepWork(0.0, 0.0)
        cached = kv_tokens + sum(before for _, before in prefill)
        passes = self.microbatches(len(prefill) + decodes)
        return self.layers.work(tokens, pairs, cached, self.devices, passes)

    def run_work(
        self, prefill_tokens: float, decode_tokens: float, steps: tuple[float, float], pairs: float, kv_read: float
    ) -> StepWork:
        """Operations and bytes on each device of a whole run of ``steps`` (with prompts, and of decoding alone).

        ``pairs``: of a token and one that it attends to; ``kv_read``: tokens read from the cache, each time that they are.
        """
        tokens, every = prefill_tokens + decode_tokens, sum(steps)
        passes = every * self.microbatches(decode_tokens / max(1.0, every))
        work = self.layers.work(tokens, pairs, 0.0, self.devices, passes)
        return StepWork(work.flops, work.bytes + kv_read * self.layers.kv_bytes / self.devices)

    def utilisation(self, prefill: Sequence[tuple[int, int]], decodes: int, kv_tokens: int) -> tuple[float, float]:
        """(of the arithmetic peak, of the memory bandwidth) during such a step; each at most 1."""
        seconds = self.step_s(prefill, decodes, kv_tokens)
        if seconds <= 0.0:
            return 0.0, 0.0
        done = self.work(prefill, decodes, kv_tokens)
        return (
            min(1.0, done.flops / (seconds * self.layers.peak)),
            min(1.0, done.bytes / (seconds * self.layers.bandwidth)),
        )

    def sampling_share(self, tokens: float, seconds: float) -> float:
        """Of the time of all devices, what sampling so many tokens in so many seconds takes on the one that does it."""
        return min(1.0, tokens * self.layers.host_sequence_s / seconds) / self.devices

    def power_w(self, compute_utilisation: float, memory_utilisation: float, sampling: float = 0.0) -> float | None:
        """Watts of all devices together at these utilisations and ``sampling_share``, each 0 to 1; None: power is unknown."""
        if self.power is None:
            return None
        return self.devices * self.power.watts(compute_utilisation, memory_utilisation, sampling)


def step_costs(
    model: TransformerModel, device: SimulatedDevice, candidate: Mapping[str, Scalar], layers: LayerCosts | None = None
) -> StepCosts:
    """Price the candidate. Raises ``DoesNotFit`` or ``Unsupported`` with the reason, ``UserError`` for unknown values.

    ``layers``: those of a candidate with the same formats, division and engine, where they are priced already.
    """
    layout = layout_of(model, device, candidate)
    host_bytes = _host_bytes(device, candidate) * layout.devices
    layers = layers or layer_costs(model, device, layout)
    return StepCosts(
        layers=layers,
        memory=memory_plan(model, device, layout),
        power=device_power(device.power),
        devices=layout.devices,
        stages=layout.pp,
        engine=layout.engine,
        interval=layers.interval,
        basis=layers.basis,
        host_bandwidth=None if device.host_bandwidth is None else _COPIED * device.host_bandwidth * layout.devices,
        host_bytes=host_bytes,
        copy_floor_s=device.launch_s,
    )


def _host_bytes(device: SimulatedDevice, candidate: Mapping[str, Scalar]) -> float:
    """Of the host's memory, for swapped caches of each device. Raises ``Unsupported`` where copies cannot be priced."""
    if candidate.get("preemption") == "swap" and device.host_bandwidth is None:
        raise Unsupported(f"how fast {device.name} copies to its host is not known: preemption must be recompute")
    value = candidate.get("swap_space_bytes", _SWAP_SPACE_BYTES)
    if isinstance(value, bool | str) or not 0 <= value < float("inf"):
        raise UserError(f"swap_space_bytes={value!r} is no size", "give bytes for each device, 0 or more")
    return float(value)

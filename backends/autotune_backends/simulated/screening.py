"""Many candidates at a glance: each one's steady state, by the names of metrics, for the event simulator to decide among."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from autotune.core.candidate import Candidate, Scalar
from autotune.core.ownership import Ownership
from autotune.core.workload import Workload
from autotune_backends.simulated.calibration import correction_of
from autotune_backends.simulated.costing import hourly_cost
from autotune_backends.simulated.devices import SimulatedDevice
from autotune_backends.simulated.fitted import sigma_of
from autotune_backends.simulated.pricing import LayerCosts
from autotune_backends.simulated.screen import ClosedLoop, closed_loop
from autotune_backends.simulated.step_costs import Infeasible, StepCosts, step_costs
from autotune_backends.simulated.transformers import TransformerModel

__all__ = ["screened"]

_LAYERS = ("precision", "kv_precision", "tp", "pp", "sparsity", "engine")  # what decides the price of a layer
_PRICED = (*_LAYERS, "memory_share", "max_num_seqs", "max_batched_tokens", "page_tokens")
_USERS = 64  # stand for an open loop, whose number of requests at once only the event simulator finds

Figures = Mapping[str, float]
_Key = tuple[Scalar | None, ...]


def screened(
    model: TransformerModel,
    device: SimulatedDevice,
    candidates: Sequence[Candidate],
    workload: Workload,
    own: Ownership | None = None,
) -> list[Figures | None]:
    """Of each candidate, means by the family of a metric (``ttft`` for ``ttft_p90``); None where it cannot run.

    Requests all have the workload's mean lengths. How batches are formed and whether prefixes are kept is not looked at:
    candidates that differ in nothing else are equal here. None for all where only a trace knows the lengths.
    """
    phase = workload.serving
    if phase is None or phase.tokens is None or phase.tokens.trace is not None:
        return [None] * len(candidates)
    load = phase.tokens
    lengths = load.users or _USERS, round(load.input_tokens.mean), round(load.output_tokens.mean)
    layers: dict[_Key, LayerCosts] = {}
    seen: dict[_Key, Figures | None] = {}
    found = []
    for candidate in candidates:
        key = _key(candidate, _PRICED)
        if key not in seen:
            seen[key] = _figures(model, device, candidate, *lengths, layers, own)
        found.append(seen[key])
    return found


def _key(candidate: Candidate, names: Sequence[str]) -> _Key:
    return tuple(candidate.get(name) for name in names)


def _figures(
    model: TransformerModel,
    device: SimulatedDevice,
    candidate: Candidate,
    users: int,
    inputs: int,
    outputs: int,
    layers: dict[_Key, LayerCosts],
    own: Ownership | None,
) -> Figures | None:
    """``layers`` that were priced before; new ones are added."""
    key = _key(candidate, _LAYERS)
    most = {
        "max_num_seqs": int(candidate.get("max_num_seqs", 256)),
        "max_batched_tokens": int(candidate.get("max_batched_tokens", 8192)),
    }
    try:
        costs = step_costs(model, device, candidate, layers.get(key))
        layers[key] = costs.layers
        loop = closed_loop(costs, users, max(1, inputs), max(1, outputs), **most)
    except (Infeasible, ValueError):  # the second: not one request fits
        return None
    if device.residuals:
        loop = _corrected(model, costs, loop, device)
    hourly = hourly_cost(device, costs.devices, loop.power_w, own)
    return _named(costs, loop, outputs, hourly.usd if hourly is not None else None)


def _named(costs: StepCosts, loop: ClosedLoop, outputs: int, usd_per_h: float | None) -> Figures:
    figures = {
        "ttft": loop.ttft_s,
        "tpot": loop.tpot_s,
        "latency": loop.ttft_s + max(0, outputs - 1) * loop.tpot_s,
        "output_throughput": loop.output_throughput,
        "request_rate": loop.output_throughput / max(1, outputs),
        "device_count": float(costs.devices),
    }
    if loop.power_w is not None:
        figures |= {"power": loop.power_w, "energy_per_token": loop.power_w / loop.output_throughput}
    if usd_per_h is not None:
        figures["cost_per_million_tokens"] = usd_per_h / 3600 / loop.output_throughput * 1e6
    return figures


def _corrected(model: TransformerModel, costs: StepCosts, loop: ClosedLoop, device: SimulatedDevice) -> ClosedLoop:
    """By what was measured on the device."""
    known = correction_of(device.residuals, (model.name, costs.engine.name), sigma_of(costs.interval))
    return replace(
        loop,
        ttft_s=loop.ttft_s * known.step.factor * known.first.factor,
        tpot_s=loop.tpot_s * known.step.factor,
        output_throughput=loop.output_throughput / known.step.factor,
        power_w=None if loop.power_w is None else loop.power_w * known.power.factor,
    )

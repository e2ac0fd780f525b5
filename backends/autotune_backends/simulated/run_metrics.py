"""The metrics of one simulated run: the server's own, and what its devices draw and cost."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.fleet import HOURS_PER_MONTH
from autotune.core.limits import Limit
from autotune.core.metrics import find_metric
from autotune.core.ownership import Ownership
from autotune.core.values import Value
from autotune_backends.simulated.calibration import calibrated_on
from autotune_backends.simulated.costing import HourlyCost, hourly_cost
from autotune_backends.simulated.groups import Group
from autotune_backends.simulated.lead_time import lead_time
from autotune_backends.simulated.power import battery_life
from autotune_backends.simulated.serving import ServingResult, metrics
from autotune_backends.simulated.serving.result import Counters
from autotune_backends.simulated.speculation import SpeculativeCosts

__all__ = ["run_metrics"]

_COSTS = ("cost_per_month", "cost_per_million_tokens")


def run_metrics(
    result: ServingResult,
    groups: Sequence[Group],
    limits: Sequence[Limit],
    own: Ownership | None,
    calibrated: Sequence[int],
) -> dict[str, Value]:
    """Known exactly, or by one price: without intervals of their own yet. What is unknown is left out.

    ``calibrated``: on how many points of the user's each group is.
    """
    said = "; ".join(_said(group, points) for group, points in zip(groups, calibrated, strict=True))
    found = metrics(result, limits, basis=said)
    if any(isinstance(group.costs, SpeculativeCosts) for group in groups):
        found = {
            name: value for name, value in found.items() if not name.startswith("itl_")
        }  # only their mean is known
    tokens = float(result.output_tokens.sum())
    devices = sum(group.plain.devices for group in groups)
    extra = {"device_count": float(devices), "size": sum(group.weight_bytes for group in groups)}
    powers = [_power_w(result, done, group) for done, group in zip(result.groups, groups, strict=True)]
    known = [power for power in powers if power is not None]
    if len(known) == len(powers):
        extra |= {"power": sum(known), "energy_per_token": sum(known) * result.span_s / tokens}
        extra |= battery_life(groups[0].device, powers[0])
    built_s = [group.device.build_s for group in groups if group.device.build_s is not None]
    extra |= {"build_time": max(built_s)} if built_s else {}
    hourly = _hourly(groups, powers, own)
    if hourly is not None:
        extra["cost_per_month"] = hourly.usd * HOURS_PER_MONTH
        extra["cost_per_million_tokens"] = hourly.usd / 3600 * result.span_s / tokens * 1e6
    paid = dict.fromkeys(_COSTS, hourly.basis) if hourly is not None else {}
    basis = " and ".join(map(_layout, groups))
    of_devices = {
        name: Value(value=number, unit=find_metric(name).unit, provenance="simulated", basis=paid.get(name, basis))
        for name, number in extra.items()
    }
    return found | of_devices | lead_time([group.device for group in groups])


def _said(group: Group, points: int) -> str:
    told = f"{group.basis} on {group.device.name}, {group.device.confidence} confidence{calibrated_on(points)}"
    if not isinstance(group.costs, SpeculativeCosts):
        return told
    source = group.candidate.get("acceptance_source", "as given, not measured here")
    return f"{told}, draft {group.candidate['draft_model']} accepted at {group.costs.acceptance:g} ({source})"


def _layout(group: Group) -> str:
    layout = f"tp={group.candidate.get('tp', 1)} pp={group.candidate.get('pp', 1)}"
    return f"{group.plain.devices} × {group.device.name} with {layout}"


def _hourly(groups: Sequence[Group], powers: Sequence[float | None], own: Ownership | None) -> HourlyCost | None:
    """Of all groups; None when the cost of one is unknown."""
    costs = [
        hourly_cost(group.device, group.plain.devices, power, own) for group, power in zip(groups, powers, strict=True)
    ]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return None
    return HourlyCost(sum(cost.usd for cost in known), "; ".join(dict.fromkeys(cost.basis for cost in known)))


def _power_w(result: ServingResult, done: Counters, group: Group) -> float | None:
    """Mean power of a group, from the whole run's utilisations, as the power model was fitted. None: unknown."""
    prompts = float((result.input_tokens * result.input_tokens).sum()) / 2 if done.prefill_tokens else 0.0
    work = group.costs.run_work(
        done.prefill_tokens,
        done.decode_tokens,
        (done.steps - done.decode_steps, done.decode_steps),
        prompts + done.kv_used,
        done.kv_used,
    )
    layers, span_s = group.plain.layers, result.span_s
    return group.plain.power_w(
        min(1.0, work.flops / (span_s * layers.peak)),
        min(1.0, work.bytes / (span_s * layers.bandwidth)),
        group.plain.sampling_share(done.decode_tokens, span_s),
    )

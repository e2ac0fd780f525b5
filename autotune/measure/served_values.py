"""From a load to metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from autotune.core.metrics import percentile_suffix
from autotune.core.power import PowerModel
from autotune.core.serving import Served
from autotune.core.values import Value
from autotune.measure.energy import Use
from autotune.measure.max_rate import latency_bounds
from autotune.measure.percentiles import supported_percentiles
from autotune.measure.queue_model import simulate_queue
from autotune.measure.saturation import kept_up, poisson
from autotune.measure.served_phase import ServedPhase
from autotune.measure.summaries import estimated_energy, to_value
from autotune.measure.windows import percentile_intervals

__all__ = [
    "log_half",
    "predicted_values",
    "served_arrays",
    "served_energy",
    "served_notes",
    "served_ratios",
    "served_values",
]

Metrics = Mapping[str, Value]

_SIMULATED_REQUESTS = 4000
_DOUBT = 1.3  # by which the queue model may be off, either way, where the load leaves instances idle for a while
_SURE_LOAD = 0.7  # utilisation up to which that was seen to hold
_LATE = 0.001  # seconds of the generator's own lag (p99) from which a note says so


def served_values(phase: ServedPhase, *, names: Sequence[str]) -> dict[str, Value]:
    """The phase's metrics. ``names`` are the families that its percentiles are given under (``latency``, ``response``)."""
    values: dict[str, Value] = {}
    if phase.served is not None:
        values |= _percentiles(phase.served, names, _basis(phase))
        values |= _rates(phase, phase.served)
    if phase.load.seek_rate:
        values["max_rate"] = _max_rate(phase)
    return values


def predicted_values(phase: ServedPhase, *, names: Sequence[str]) -> dict[str, Value]:
    """What the queue model expects at the phase's rate, from the profile: estimates, as wide as the model may be off.

    Empty without a rate. Nothing is said where instances would be busy for more than 70 % of the time.
    """
    rate = phase.rate
    if rate is None or not phase.profile:
        return {}
    latency = simulate_queue(poisson(rate, _SIMULATED_REQUESTS / rate, 1), phase.service, phase.policy)
    busy = rate * float(np.mean(phase.service[0])) / phase.policy.instances
    if busy > _SURE_LOAD and phase.policy.max_batch == 1:
        return {}
    found: dict[str, Value] = {}
    for percentile in (50.0, *supported_percentiles(len(latency))):
        value = float(np.quantile(latency, percentile / 100))
        said = Value(
            value=value,
            unit="s",
            low=value / _DOUBT,
            high=value * _DOUBT,
            n=len(latency),
            provenance="estimated",
            basis="queue simulated from measured batch latencies",
        )
        found |= {f"{name}_{percentile_suffix(percentile)}": said for name in names}
    return found


def served_ratios(mine: Metrics, theirs: Metrics) -> dict[str, Value]:
    """This session's metrics / the other's, each measured while the other was stopped: one after the other, not in pairs.

    The intervals' half-widths add up as those of independent errors do, on a logarithmic scale.
    """
    ratios = {}
    for name, value in mine.items():
        other = theirs.get(name)
        if other is None or not value.value or not other.value:
            continue
        ratio, spread = value.value / other.value, np.hypot(log_half(value), log_half(other))
        low, high = ratio * np.exp(-spread), ratio * np.exp(spread)
        known = np.isfinite(spread)
        ratios[name] = Value(
            value=ratio,
            unit="1",
            low=float(low) if known else None,
            high=float(high) if known else None,
            n=value.n,
            provenance=value.provenance,
            basis="bracketed: one after the other",
        )
    return ratios


def served_energy(phase: ServedPhase, model: PowerModel | None, cpus: int) -> dict[str, Value]:
    """Estimated energy per request under the load, idle time included; empty when it cannot be estimated."""
    served = phase.served
    if served is None or model is None or served.cpu_s is None or not len(served.latency_s):
        return {}
    count = len(served.latency_s)
    return estimated_energy(model, Use(np.asarray([served.wall_s / count]), np.asarray([served.cpu_s / count]), cpus))


def served_arrays(phase: ServedPhase, prefix: str = "") -> dict[str, NDArray[np.generic]]:
    """Raw samples by name: each request's scheduled arrival, latency and lag, the rows of each batch, and how many requests
    each piece of the load had, where it was measured in pieces.
    """
    served = phase.served
    if served is None:
        return {}
    name = f"{prefix}{phase.load.name}"
    pieces: dict[str, NDArray[np.generic]] = (
        {f"{name}_piece_requests": np.asarray(phase.pieces)} if phase.pieces else {}
    )
    return pieces | {
        f"{name}_arrivals_s": served.arrivals_s,
        f"{name}_request_latency_s": served.latency_s,
        f"{name}_lag_s": served.lag_s,
        f"{name}_batch_rows": served.batch_rows,
    }


def served_notes(phase: ServedPhase) -> list[str]:
    """What a person should know of the load."""
    served, name = phase.served, phase.load.name
    if served is None:
        return []
    notes = []
    if phase.load.phase.scenario == "server" and not kept_up(served):
        ended = f", ended after {served.wall_s:.3g} s" if served.stopped else ""
        notes.append(f"{name}: over-saturated at {phase.rate or 0:.4g}/s{ended}: its latencies would only grow")
    if served.dropped:
        notes.append(f"{name}: {served.dropped} of {len(served.latency_s)} requests were dropped")
    lag = _lag_s(served)
    if lag > _LATE:
        notes.append(f"{name}: the load generator itself was late by {lag * 1e3:.2g} ms (p99), which latencies include")
    return notes


def _percentiles(served: Served, names: Sequence[str], basis: str) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for percentile, interval in percentile_intervals(served).items():
        value = to_value(interval, "s", len(served.latency_s), basis)
        values |= {f"{name}_{percentile_suffix(percentile)}": value for name in names}
    return values


def _basis(phase: ServedPhase) -> str:
    served, scenario = phase.served, phase.load.phase.scenario
    if scenario == "multi_stream":
        return f"{phase.load.phase.streams or 1} closed loops, windows resampled"
    text = f"at {phase.rate or 0:.4g}/s, windows resampled"
    return f"{text}; over-saturated: at least this" if served is not None and not kept_up(served) else text


def _rates(phase: ServedPhase, served: Served) -> dict[str, Value]:
    """Requests a second, the share of the time that instances worked, and requests a second within every limit."""
    answered = len(served.latency_s) - served.dropped - served.unanswered
    count = len(served.latency_s)
    values = {"request_rate": Value(value=answered / served.wall_s, unit="1/s", n=count)}
    if phase.load.phase.scenario == "server":
        values["utilisation"] = Value(value=served.utilisation, unit="1", n=count)
        bounds = latency_bounds(phase.load.limits)
        if bounds:
            tightest = min(bound.bound_s for bound in bounds)
            within = int(np.sum(served.latency_s <= tightest))
            values["goodput"] = Value(value=within / served.wall_s, unit="1/s", n=count)
    return values


def _max_rate(phase: ServedPhase) -> Value:
    probes = len(phase.probes)
    if phase.fastest is None:
        return Value(value=None, unit="1/s", n=probes, basis="no rate held the limits")
    texts = ", ".join(limit.text for limit in phase.load.limits) or "the queue does not grow"
    return to_value(
        phase.fastest, "1/s", probes, f"highest rate probed with {texts}; next to it the lowest that broke them"
    )


def _lag_s(served: Served) -> float:
    return float(np.quantile(served.lag_s, 0.99)) if len(served.lag_s) else 0.0


def log_half(value: Value) -> float:
    """Half of the interval's width on a logarithmic scale; 0 where there is none."""
    low, high = value.interval()
    return float(np.log(high / low) / 2) if low > 0 and high > low else 0.0

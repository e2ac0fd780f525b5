"""From rounds to metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from autotune.core.metrics import percentile_suffix
from autotune.core.power import PowerModel
from autotune.core.values import Value
from autotune.measure.energy import Use, energy_bounds_j, energy_j
from autotune.measure.intervals import Interval, median_interval
from autotune.measure.percentiles import percentile_interval, supported_percentiles
from autotune.measure.rounds import Rounds
from autotune.measure.shapes import by_shape

__all__ = ["energy_values", "estimated_energy", "item_use", "memory_value", "phase_series", "phase_values", "to_value"]

_Series = NDArray[np.float64]

_SECONDS, _RATE = "s", "1/s"


def phase_series(rounds: Rounds) -> tuple[str, NDArray[np.float64]]:
    """The metric that a phase is there for, with its value in each round."""
    if rounds.load.phase.scenario == "offline":
        return "throughput", rounds.item_rates()
    return "latency_p50", rounds.latencies()


def phase_values(rounds: Rounds, alpha: float) -> dict[str, Value]:
    """The phase's own metrics: throughput, or latency at the median and each further percentile the samples support.

    Of a mixture of shapes, each value has every shape's own among its parts.
    """
    mixed = by_shape(rounds.load.requests, rounds.taken)
    if rounds.load.phase.scenario == "offline":
        parts = {label: _throughput(taken, rounds.load.requests.items, alpha) for label, taken in mixed.items()}
        whole = to_value(median_interval(rounds.item_rates(), alpha), _RATE, len(rounds.taken), "median of rounds")
        return {"throughput": whole.model_copy(update={"parts": parts})}
    values = _latencies([taken.latency_s for taken in rounds.taken], rounds.latencies(), alpha)
    shapes = {
        label: _latencies(taken, np.asarray([np.median(one) for one in taken]), alpha) for label, taken in mixed.items()
    }
    return {
        name: value.model_copy(update={"parts": {label: one[name] for label, one in shapes.items() if name in one}})
        for name, value in values.items()
    }


def _latencies(rounds: Sequence[NDArray[np.float64]], medians: NDArray[np.float64], alpha: float) -> dict[str, Value]:
    """Latency at the median and beyond, from the seconds of each request, one array a round, and each round's median."""
    count = sum(len(latencies) for latencies in rounds)
    middle = median_interval(medians, alpha)
    values = {"latency_p50": to_value(middle, _SECONDS, count, f"median of {len(rounds)} rounds")}
    for percentile in supported_percentiles(count):
        interval = percentile_interval(rounds, percentile)
        values[f"latency_{percentile_suffix(percentile)}"] = to_value(interval, _SECONDS, count, "order statistics")
    return values


def _throughput(rounds: Sequence[NDArray[np.float64]], items: int, alpha: float) -> Value:
    """Items a second of one shape, over the time that its own requests took."""
    rates = np.asarray([len(latencies) * items / latencies.sum() for latencies in rounds])
    return to_value(median_interval(rates, alpha), _RATE, len(rates), "median of rounds")


def item_use(rounds: Rounds, cpus: int) -> Use | None:
    """Wall and CPU seconds per item, one number a round; None when some round's CPU time is unknown."""
    if not rounds.taken or any(taken.cpu_s is None for taken in rounds.taken):
        return None
    items = np.asarray([len(taken.latency_s) * taken.items for taken in rounds.taken], dtype=np.float64)
    wall = np.asarray([taken.wall_s for taken in rounds.taken])
    cpu = np.asarray([taken.cpu_s for taken in rounds.taken], dtype=np.float64)
    return Use(wall / items, cpu / items, cpus)


def energy_values(
    rounds: Rounds, model: PowerModel | None, cpus: int, *, shared_model: bool = False
) -> dict[str, Value]:
    """``energy`` in joules an item and ``power`` in watts: from a counter where every round carries it, else estimated.

    ``shared_model``: for a comparison with others under the same power model, whose uncertainty is then common to all; the
    interval is the rounds' alone. Empty when neither a counter nor a power model is at hand.
    """
    wall = np.asarray([taken.wall_s for taken in rounds.taken])
    counted = [taken.energy_j for taken in rounds.taken]
    if counted and all(joules is not None for joules in counted):
        items = np.asarray([len(taken.latency_s) * taken.items for taken in rounds.taken])
        joules = np.asarray(counted, dtype=np.float64)
        return _energy_and_power(joules / items, joules / wall)
    use = item_use(rounds, cpus)
    if model is None or use is None:
        return {}
    typical = energy_j(model, use)
    return _estimated(model, use, typical, (typical, typical) if shared_model else energy_bounds_j(model, use))


def estimated_energy(model: PowerModel, use: Use) -> dict[str, Value]:
    """``energy`` and ``power`` by the power model, with its uncertainty."""
    return _estimated(model, use, energy_j(model, use), energy_bounds_j(model, use))


def memory_value(phases: Sequence[Rounds]) -> dict[str, Value]:
    """Peak resident memory of the session's process so far; empty when it is unknown."""
    peaks = [taken.memory_bytes for rounds in phases for taken in rounds.taken if taken.memory_bytes is not None]
    basis = "peak resident memory of the session's process, its interpreter included"
    return {"memory": Value(value=max(peaks), unit="bytes", n=1, basis=basis)} if peaks else {}


def to_value(interval: Interval, unit: str, count: int, basis: str) -> Value:
    """A measured value."""
    return Value(value=interval.value, unit=unit, low=interval.low, high=interval.high, n=count, basis=basis)


def _energy_and_power(joules: NDArray[np.float64], watts: NDArray[np.float64]) -> dict[str, Value]:
    count = len(joules)
    return {
        "energy": to_value(median_interval(joules), "J", count, "energy counter"),
        "power": to_value(median_interval(watts), "W", count, "energy counter"),
    }


def _estimated(model: PowerModel, use: Use, typical: _Series, bounds: tuple[_Series, _Series]) -> dict[str, Value]:
    """The interval reaches from the low end of the rounds under low figures to the high end of those under high ones."""
    basis = f"CPU seconds and wall time, power model {model.name!r}"

    def value(unit: str, per: NDArray[np.float64] | float) -> Value:
        middle, low, high = (median_interval(series / per) for series in (typical, *bounds))
        return Value(
            value=middle.value,
            unit=unit,
            low=low.value if low.low is None else low.low,
            high=high.value if high.high is None else high.high,
            n=len(typical),
            provenance="estimated",
            basis=basis,
        )

    return {"energy": value("J", 1.0), "power": value("W", use.wall_s)}

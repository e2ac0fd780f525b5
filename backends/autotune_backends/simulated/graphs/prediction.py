"""A graph's metrics under a load, each with the interval that the known error of device and kernels leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError, MeasureError
from autotune.core.fleet import HOURS_PER_MONTH
from autotune.core.metrics import find_metric
from autotune.core.model import ModelFacts
from autotune.core.ownership import Ownership
from autotune.core.values import Value
from autotune.core.workload import Workload
from autotune_backends.simulated.costing import hourly_cost
from autotune_backends.simulated.devices import SimulatedDevice
from autotune_backends.simulated.fitted import interval_of, sigma_of
from autotune_backends.simulated.graphs.nearest_fit import nearest_graph_fit
from autotune_backends.simulated.graphs.runs import ShapedRun, mean_seconds, median_seconds, shaped_runs
from autotune_backends.simulated.lead_time import lead_time
from autotune_backends.simulated.nearest_fit import with_change
from autotune_backends.simulated.power import battery_life, device_power
from autotune_backends.simulated.refusals import DoesNotFit, Unsupported

__all__ = ["SCENARIOS", "predict_graph"]

SCENARIOS = ("single_stream", "offline")

_UNKNOWN = "what the format costs in quality is not known of a graph that was not run"


def predict_graph(
    model: ModelFacts,
    device: SimulatedDevice,
    candidate: Candidate,
    workload: Workload,
    confidence: float,
    own: Ownership | None = None,
) -> dict[str, Value]:
    """Every metric of the candidate there; energy, memory and costs offline where there is such a phase, as when measured.

    Fidelity is unknown, and says so. Raises ``BuildError`` and ``MeasureError``.
    """
    for phase in workload.phases:
        if phase.scenario not in SCENARIOS:
            raise MeasureError("unsupported", f"graphs are not simulated under a {phase.scenario} load")
    try:
        phases = {str(phase.scenario): shaped_runs(model, device, candidate, phase) for phase in workload.phases}
    except DoesNotFit as error:
        nearest = nearest_graph_fit(model, device, candidate, workload.phases)
        raise BuildError("out_of_memory", with_change(error.problem, nearest)) from error
    except Unsupported as error:
        raise BuildError("unsupported", error.problem) from error
    usual = "offline" if "offline" in phases else "single_stream"
    found = _Figures(phases[usual], device, confidence).of_all(own)
    if "single_stream" in phases:
        found |= _Figures(phases["single_stream"], device, confidence).latency()
    if "offline" in phases:
        found |= _Figures(phases["offline"], device, confidence).throughput()
    return found | {"fidelity": Value(value=None, unit="1", provenance="simulated", basis=_UNKNOWN)}


@dataclass(frozen=True, slots=True)
class _Figures:
    """Of one phase."""

    runs: Sequence[ShapedRun]
    device: SimulatedDevice
    confidence: float

    def latency(self) -> dict[str, Value]:
        """A run takes as long as the one before it, so that the median is all that is known of the times' spread."""
        parts = {run.label: self._time("latency_p50", run.costs.seconds) for run in self.runs if run.label}
        value = self._time("latency_p50", median_seconds(self.runs))
        return {"latency_p50": value.model_copy(update={"parts": parts})}

    def throughput(self) -> dict[str, Value]:
        """Items a second, back to back."""
        per_item = self._time("throughput", mean_seconds(self.runs) / self._batch)
        parts = {
            run.label: _turned(self._time("throughput", run.costs.seconds / run.batch))
            for run in self.runs
            if run.label
        }
        return {"throughput": _turned(per_item).model_copy(update={"parts": parts})}

    def of_all(self, own: Ownership | None) -> dict[str, Value]:
        """Memory, energy and costs, of the heaviest or the mean run."""
        heaviest = max(self.runs, key=lambda run: run.costs.memory.total_bytes).costs.memory
        found = {
            "memory": self._exact("memory", heaviest.total_bytes),
            "size": self._exact("size", heaviest.weight_bytes),
        }
        found |= self._energy() | self._cost(own)
        if self.device.build_s is not None:
            found["build_time"] = self._exact("build_time", self.device.build_s)
        return found | lead_time([self.device])

    def _energy(self) -> dict[str, Value]:
        watts = self._watts()
        if watts is None:
            return {"energy": self._unknown("energy", f"the power of {self.device.name} is not known")}
        energy = self._time("energy", watts * mean_seconds(self.runs) / self._batch)
        life = {name: self._exact(name, seconds) for name, seconds in battery_life(self.device, watts).items()}
        return {"power": self._exact("power", watts), "energy": energy} | life

    def _watts(self) -> float | None:
        """On average over the runs' time; None: unknown."""
        power = device_power(self.device.power)
        if power is None:
            return None
        joules = sum(
            run.weight * run.costs.seconds * power.watts(run.costs.compute_utilisation, run.costs.memory_utilisation)
            for run in self.runs
        )
        return joules / mean_seconds(self.runs)

    def _cost(self, own: Ownership | None) -> dict[str, Value]:
        hourly = hourly_cost(self.device, 1, self._watts(), own)
        if hourly is None:
            why = f"the price of {self.device.name} is not known"
            return {name: self._unknown(name, why) for name in ("cost_per_million_items", "cost_per_month")}
        per_item = hourly.usd / 3600 * mean_seconds(self.runs) / self._batch
        costs = {
            "cost_per_million_items": self._time("cost_per_million_items", per_item * 1e6),
            "cost_per_month": self._exact("cost_per_month", hourly.usd * HOURS_PER_MONTH),
        }
        return {name: value.model_copy(update={"basis": hourly.basis}) for name, value in costs.items()}

    @property
    def _batch(self) -> int:
        return self.runs[0].batch

    @property
    def _basis(self) -> str:
        costs = self.runs[0].costs
        lost = f", {costs.unpriced:.0%} of the operators unpriced" if costs.unpriced else ""
        return f"{costs.basis} on {self.device.name}, {self.device.confidence} confidence{lost}"

    def _time(self, name: str, number: float) -> Value:
        """What grows with the seconds. Unpriced operators can only add to them."""
        costs = self.runs[0].costs
        factor = 1.0 + interval_of(sigma_of(costs.interval(self.device)), self.confidence)
        missing = max(run.costs.unpriced for run in self.runs)
        return self._exact(name, number).model_copy(
            update={"low": number / factor, "high": number * factor / (1.0 - missing)}
        )

    def _exact(self, name: str, number: float) -> Value:
        return Value(value=number, unit=find_metric(name).unit, provenance="simulated", basis=self._basis)

    def _unknown(self, name: str, why: str) -> Value:
        return Value(value=None, unit=find_metric(name).unit, provenance="simulated", basis=why)


def _turned(seconds: Value) -> Value:
    """Items a second, of seconds an item."""
    low, high = seconds.interval()
    return seconds.model_copy(update={"value": 1.0 / (seconds.value or 1.0), "low": 1.0 / high, "high": 1.0 / low})

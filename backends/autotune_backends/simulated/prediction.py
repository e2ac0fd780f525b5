"""A candidate's metrics, each with the interval that the known error of the device and its operators leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError
from autotune.core.fleet import HOURS_PER_MONTH
from autotune.core.limits import Limit
from autotune.core.metrics import find_metric
from autotune.core.ownership import Ownership
from autotune.core.values import Value
from autotune.core.workload import Workload
from autotune_backends.simulated.accuracy import published_accuracy
from autotune_backends.simulated.calibration import calibrated_on, corrected, correction_of
from autotune_backends.simulated.costing import hourly_cost
from autotune_backends.simulated.devices import SimulatedDevice
from autotune_backends.simulated.fitted import sigma_of
from autotune_backends.simulated.serving import ServingResult, metrics, simulate_serving
from autotune_backends.simulated.step_costs import DoesNotFit, StepCosts, Unsupported, step_costs
from autotune_backends.simulated.transformers import TransformerModel

__all__ = ["predict"]

_COSTS = ("cost_per_month", "cost_per_million_tokens")


@dataclass(frozen=True, slots=True)
class _Slower:
    """Costs whose every step takes ``factor`` times as long."""

    costs: StepCosts
    factor: float

    @property
    def kv_capacity_tokens(self) -> int:
        return self.costs.kv_capacity_tokens

    @property
    def page_tokens(self) -> int:
        return self.costs.page_tokens

    def step_s(self, prefill: Sequence[tuple[int, int]], decodes: int, kv_tokens: int) -> float:
        return self.factor * self.costs.step_s(prefill, decodes, kv_tokens)

    def decode_line(self, decodes: int) -> tuple[float, float]:
        fixed, slope = self.costs.decode_line(decodes)
        return self.factor * fixed, self.factor * slope


def predict(
    model: TransformerModel,
    device: SimulatedDevice,
    candidate: Candidate,
    workload: Workload,
    *,
    limits: Sequence[Limit],
    confidence: float,
    seed: int,
    own: Ownership | None = None,
) -> dict[str, Value]:
    """Serve the workload three times: as expected, and with every step as slow and as fast as it may really be.

    A queue multiplies what a step is late: the ends of a time's interval are what a slower and a faster device would show, and
    not a share of the value. Raises ``BuildError`` (out_of_memory, unsupported) and ``MeasureError``.
    """
    costs = _priced(model, device, candidate)
    known = correction_of(device.residuals, (model.name, costs.engine.name), sigma_of(costs.interval))
    deviations = NormalDist().inv_cdf((1 + confidence) / 2)
    slower = math.exp(deviations * known.step.sigma)
    basis = f"{costs.basis} on {device.name}, {device.confidence} confidence{calibrated_on(known.count)}"
    runs = [
        _metrics(
            simulate_serving(_Slower(costs, known.step.factor * one), candidate, workload, seed),
            costs,
            device,
            limits,
            candidate,
            own,
            basis,
        )
        for one in (1.0, slower, 1 / slower)
    ]
    spread = {name: _spread([run[name] for run in runs if name in run]) for name in runs[0]}
    return {name: corrected(name, value, known, deviations) for name, value in spread.items()} | _quality(
        model, candidate
    )


def _quality(model: TransformerModel, candidate: Candidate) -> dict[str, Value]:
    """What the original's mean task accuracy keeps, as published; nothing where nobody published it."""
    found = published_accuracy(model, str(candidate.get("precision", "bf16")), str(candidate.get("sparsity", "none")))
    if found is None:
        return {}
    kept, low, high = (min(1.0, share) for share in (found.kept, found.low, found.high))
    return {"fidelity": Value(value=kept, low=low, high=high, unit="1", provenance="published", basis=found.basis)}


def _priced(model: TransformerModel, device: SimulatedDevice, candidate: Candidate) -> StepCosts:
    try:
        return step_costs(model, device, candidate)
    except DoesNotFit as error:
        raise BuildError("out_of_memory", error.problem) from error
    except Unsupported as error:
        raise BuildError("unsupported", error.problem) from error


def _metrics(
    result: ServingResult,
    costs: StepCosts,
    device: SimulatedDevice,
    limits: Sequence[Limit],
    candidate: Candidate,
    own: Ownership | None,
    basis: str,
) -> dict[str, Value]:
    """One run's. Known exactly, or by one price: without an interval of their own yet."""
    found = metrics(result, limits, basis=basis)
    tokens = float(result.output_tokens.sum())
    extra: dict[str, float] = {"device_count": float(costs.devices), "size": float(costs.weight_bytes)}
    power_w = _power_w(result, costs)
    if power_w is not None:
        extra |= {"power": power_w, "energy_per_token": power_w * result.span_s / tokens}
    hourly = hourly_cost(device, costs.devices, power_w, own)
    if hourly is not None:
        extra["cost_per_month"] = hourly.usd * HOURS_PER_MONTH
        extra["cost_per_million_tokens"] = hourly.usd / 3600 * result.span_s / tokens * 1e6
    basis = f"{costs.devices} × {device.name} with tp={candidate.get('tp', 1)} pp={candidate.get('pp', 1)}"
    said = dict.fromkeys(_COSTS, hourly.basis) if hourly is not None else {}
    return found | {
        name: Value(value=number, unit=find_metric(name).unit, provenance="simulated", basis=said.get(name, basis))
        for name, number in extra.items()
    }


def _power_w(result: ServingResult, costs: StepCosts) -> float | None:
    """Mean power of all devices, from the whole run's utilisations, as the power model was fitted. None: unknown."""
    done, layers = result.counters, costs.layers
    tokens = done.prefill_tokens + done.decode_tokens
    mean_context = float((result.input_tokens * result.input_tokens).sum()) / 2
    work = layers.work(tokens, mean_context + done.kv_used, 0.0, costs.devices)
    passes = done.steps * costs.microbatches(done.decode_tokens / max(1, done.steps))
    weights = (passes - 1) * layers.weight_bytes / costs.devices
    moved = work.bytes + weights + done.kv_used * layers.kv_bytes / costs.devices
    span_s = result.span_s
    return costs.power_w(
        min(1.0, work.flops / (span_s * layers.peak)),
        min(1.0, moved / (span_s * layers.bandwidth)),
        costs.sampling_share(done.decode_tokens, span_s),
    )


def _spread(values: Sequence[Value]) -> Value:
    numbers = [value.value for value in values if value.value is not None]
    if not numbers or min(numbers) == max(numbers):
        return values[0]
    return values[0].model_copy(update={"low": min(numbers), "high": max(numbers)})

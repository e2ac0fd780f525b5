"""A candidate's metrics, each with the interval that the known error of the device and its operators leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError, MeasureError
from autotune.core.limits import Limit
from autotune.core.ownership import Ownership
from autotune.core.values import Value
from autotune.core.workload import Workload
from autotune_backends.simulated.accuracy import published_accuracy
from autotune_backends.simulated.calibration import Correction, corrected, correction_of
from autotune_backends.simulated.devices import SimulatedDevice
from autotune_backends.simulated.fitted import sigma_of
from autotune_backends.simulated.groups import Costs, Group, groups_of, link_between
from autotune_backends.simulated.nearest_fit import nearest_fit, with_change
from autotune_backends.simulated.run_metrics import run_metrics
from autotune_backends.simulated.serving import ServingResult, simulate_pair, simulate_serving
from autotune_backends.simulated.serving.policy import policy_of
from autotune_backends.simulated.serving.simulate import RequestTooLong
from autotune_backends.simulated.serving.transfer import Link
from autotune_backends.simulated.step_costs import DoesNotFit, Unsupported
from autotune_backends.simulated.transformers import TransformerModel

__all__ = ["predict"]


@dataclass(frozen=True, slots=True)
class _Slower:
    """Costs whose every step takes ``factor`` times as long."""

    costs: Costs
    factor: float

    @property
    def kv_capacity_tokens(self) -> int:
        return self.costs.kv_capacity_tokens

    @property
    def page_tokens(self) -> int:
        return self.costs.page_tokens

    @property
    def host_capacity_tokens(self) -> int:
        return self.costs.host_capacity_tokens

    def swap_s(self, tokens: int) -> float:
        return self.factor * self.costs.swap_s(tokens)

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
    groups, link = _priced(model, device, candidate)
    known = [
        correction_of(group.device.residuals, (model.name, group.plain.engine.name), sigma_of(group.interval))
        for group in groups
    ]
    deviations = NormalDist().inv_cdf((1 + confidence) / 2)
    slower = math.exp(deviations * max(one.step.sigma for one in known))
    counts = [one.count for one in known]
    runs = []
    try:
        for ahead in (1.0, slower, 1 / slower):
            factors = [ahead * one.step.factor for one in known]
            served = _served(groups, link, factors, candidate, workload, seed)
            runs.append(run_metrics(served, groups, limits, own, counts))
    except RequestTooLong as error:
        nearest = nearest_fit(model, device, candidate, error.tokens)
        raise MeasureError(error.cause, with_change(error.message, nearest)) from error
    spread = {name: _spread([run[name] for run in runs if name in run]) for name in runs[0]}
    return {name: _corrected(name, value, known, deviations) for name, value in spread.items()} | _quality(
        model, candidate
    )


def _served(
    groups: Sequence[Group],
    link: Link | None,
    factors: Sequence[float],
    candidate: Candidate,
    workload: Workload,
    seed: int,
) -> ServingResult:
    costs = [_Slower(group.costs, factor) for group, factor in zip(groups, factors, strict=True)]
    if link is None:
        return simulate_serving(costs[0], candidate, workload, seed)
    policies = policy_of(groups[0].candidate), policy_of(groups[1].candidate)
    weights = float(groups[0].plain.devices), float(groups[1].plain.devices)
    sent = Link(link.latency_s, max(factors) * link.token_s)
    return simulate_pair((costs[0], costs[1]), policies, workload, sent, weights, seed)


def _corrected(name: str, value: Value, known: Sequence[Correction], deviations: float) -> Value:
    """First tokens come from the first group, all else from the last."""
    return corrected(name, value, known[0] if name.startswith("ttft_p") else known[-1], deviations)


def _quality(model: TransformerModel, candidate: Candidate) -> dict[str, Value]:
    """What the original's mean task accuracy keeps, as published; nothing where nobody published it."""
    found = published_accuracy(model, str(candidate.get("precision", "bf16")), str(candidate.get("sparsity", "none")))
    if found is None:
        return {}
    kept, low, high = (min(1.0, share) for share in (found.kept, found.low, found.high))
    return {"fidelity": Value(value=kept, low=low, high=high, unit="1", provenance="published", basis=found.basis)}


def _priced(
    model: TransformerModel, device: SimulatedDevice, candidate: Candidate
) -> tuple[tuple[Group, ...], Link | None]:
    try:
        groups = groups_of(model, device, candidate)
        link = link_between(model, groups[0], groups[1], candidate) if len(groups) > 1 else None
    except DoesNotFit as error:
        nearest = nearest_fit(model, device, candidate)
        raise BuildError("out_of_memory", with_change(error.problem, nearest)) from error
    except Unsupported as error:
        raise BuildError("unsupported", error.problem) from error
    return groups, link


def _spread(values: Sequence[Value]) -> Value:
    numbers = [value.value for value in values if value.value is not None]
    if not numbers or min(numbers) == max(numbers):
        return values[0]
    return values[0].model_copy(update={"low": min(numbers), "high": max(numbers)})

"""How a made-up model responds to each candidate: a table, noise that a key decides, and what a trial costs."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autotune.core.candidate import Candidate
from autotune.core.metrics import find_metric
from autotune.core.plan import Plan
from autotune.core.space import SearchSpace
from autotune.core.trial import Failure, Measurement, Outcome, Trial
from autotune.core.values import Value

__all__ = ["Surface", "tabulate"]

Response = Mapping[str, float]


def tabulate(space: SearchSpace, respond: Callable[[Candidate], Response | None]) -> dict[Candidate, Response | None]:
    """Respond to every candidate of a countable space, and to its baseline; None: that candidate fails."""
    return {candidate: respond(candidate) for candidate in [*space.candidates(), space.baseline]}


@dataclass(frozen=True)
class Surface:
    """``table`` holds true metrics in SI units. ``noise`` is the standard deviation of a measurement, relative to the value;
    accuracy and fidelity have none. ``overhead_s`` is what a trial costs beside measuring.
    """

    table: Mapping[Candidate, Response | None]
    baseline: Candidate
    noise: float = 0.01
    overhead_s: float = 2.0
    phases: int = 2

    def outcome(self, trial: Trial) -> Outcome:
        """How the trial ends: the same trial always ends the same way."""
        truth = self.table[trial.candidate]
        if truth is None:
            return Failure(stage="build", cause="unsupported", message="this candidate cannot be built")
        draw = random.Random(trial.key)
        metrics = {name: self._value(name, number, draw) for name, number in truth.items()}
        return Measurement(metrics=metrics, ratios=self._ratios(truth, draw) if trial.plan.paired else {})

    def duration_s(self, trial: Trial) -> float:
        """What the trial costs; a failure costs the overhead alone."""
        if self.table[trial.candidate] is None:
            return self.overhead_s
        return self._opening_s(trial.plan) + self.measuring_s(trial.plan)

    def measuring_s(self, plan: Plan) -> float:
        """Every phase uses its limit, and half of what the warm-up may take; a paired one does so for both sides."""
        return self.phases * (plan.phase_limit_s + plan.warmup_limit_s / 2) * (2 if plan.paired else 1)

    def _opening_s(self, plan: Plan) -> float:
        return self.overhead_s * (1.4 if plan.paired else 1.0)

    def _value(self, name: str, number: float, draw: random.Random) -> Value:
        if name in ("accuracy", "fidelity", "accuracy_drop", "size"):
            return Value(value=number, unit=find_metric(name).unit, n=100)
        seen = number * (1 + draw.gauss(0, self.noise))
        reach = 2 * self.noise * number
        return Value(value=seen, unit=find_metric(name).unit, low=seen - reach, high=seen + reach, n=100)

    def _ratios(self, truth: Response, draw: random.Random) -> dict[str, Value]:
        reference = self.table[self.baseline]
        assert reference is not None
        pairs = {name: number / reference[name] for name, number in truth.items() if find_metric(name).unit != "1"}
        return {name: self._ratio(ratio, draw) for name, ratio in pairs.items()}

    def _ratio(self, ratio: float, draw: random.Random) -> Value:
        """Pairs see each other's noise: a quarter of it is left."""
        noise = self.noise / 4
        seen = ratio * (1 + draw.gauss(0, noise))
        return Value(value=seen, unit="1", low=seen * (1 - 3 * noise), high=seen * (1 + 3 * noise), n=20)

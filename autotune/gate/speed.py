"""Speed, energy and memory side by side: in fresh processes, again and again, until every metric is decided or time is up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autotune.core.clock import Clock
from autotune.core.metrics import find_metric
from autotune.core.plan import PAIRED_SIDES, Plan
from autotune.gate.counted import Peaks
from autotune.gate.evidence import Evidence, Paired
from autotune.gate.judging import Levels, Standing, judge
from autotune.gate.repeats import highest_rates
from autotune.gate.tails import tail_of
from autotune.measure import Measured

__all__ = ["Effort", "Speed", "collect", "compare_speed", "plan_of"]

TAILS = ("latency_p90", "latency_p99", "response_p90", "response_p99")

_ATTEMPTS_IN_BUDGET = 2  # so that a failure can be confirmed within it
_PRECISION_SHARE = 0.25  # of the tolerance: the half-width at which an attempt may end
_PIECE_S = 0.5  # of a load, in turn with the other side's
_PHASE_OF = {
    "throughput": ("offline",),
    "latency": ("single_stream", "server", "multi_stream"),
    **dict.fromkeys(("response", "request", "goodput", "max"), ("server", "multi_stream")),
}
"""The scenarios that a family of metrics is taken from: the first that is measured."""

Attempt = Callable[[Sequence[str], Plan], Measured]
"""Measure these scenarios under a plan, in fresh processes."""


@dataclass(frozen=True)
class Effort:
    """Seconds: ``budget_s`` first; when that leaves something undecided, up to ``max_budget_s``, once."""

    budget_s: float
    max_budget_s: float
    clock: Clock

    @property
    def longest_s(self) -> float:
        """Whichever is longer."""
        return max(self.budget_s, self.max_budget_s)


@dataclass(frozen=True)
class Speed:
    """What was found: evidence and standing of each metric, every attempt's raw results, and the seconds it took."""

    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    standings: Mapping[str, Standing] = field(default_factory=dict)
    measured: tuple[Measured, ...] = ()
    spent_s: float = 0.0
    extended: bool = False

    @property
    def undecided(self) -> list[str]:
        """Metrics that more measuring might decide."""
        return [metric for metric, standing in self.standings.items() if standing == "undecided"]

    @property
    def settled(self) -> bool:
        """Whether more measuring would not change the gate's verdict: something is worse, or everything is decided."""
        return "worse" in self.standings.values() or not any(not self.evidence[one].final for one in self.undecided)


def compare_speed(
    attempt: Attempt,
    scenarios: Sequence[str],
    bounds: Mapping[str, float],
    effort: Effort,
    known: Mapping[str, Evidence] | None = None,
) -> Speed:
    """Measure until every metric that has a bound is decided, one is worse, or the time is used up.

    ``known`` is the evidence that needs no measuring: it counts among the metrics that the level is corrected for. A decided
    metric stays decided, and scenarios of which nothing is undecided are not measured again.
    """
    clock, started = effort.clock, effort.clock.now_s()
    speed, before, needed = Speed(known or {}), 0.0, tuple(scenarios)
    while True:
        began = clock.now_s()
        plan = plan_of(effort.budget_s, len(scenarios), _tightest(bounds, needed))
        measured = (*speed.measured, attempt(needed, plan))
        spent = clock.now_s() - started
        share = min(1.0, spent / effort.longest_s)
        speed = replace(_look(speed, measured, bounds, Levels.between(before, share)), spent_s=spent)
        before, took = share, clock.now_s() - began
        if speed.settled or spent + took > effort.longest_s:
            return speed
        needed = _needed(scenarios, speed)
        speed = replace(speed, extended=spent + took > effort.budget_s)


def collect(measured: Sequence[Measured], bounds: Mapping[str, float]) -> dict[str, Evidence]:
    """The evidence of all attempts together. Tails only where there is a bound: they are costly to bootstrap."""
    evidence: dict[str, Evidence] = {}
    for metric in dict.fromkeys(name for one in measured for name in one.series):
        series = tuple(one.series[metric] for one in measured if metric in one.series)
        evidence[metric] = Paired(find_metric(metric).goal, series)
    peaks = [ratio.value for one in measured if (ratio := one.ratios.get("memory")) is not None]
    if known := tuple(peak for peak in peaks if peak is not None):
        evidence["memory"] = Peaks("min", known)
    rates = highest_rates([(one.metrics.get("max_rate"), one.theirs.get("max_rate")) for one in measured])
    if rates is not None:
        evidence["max_rate"] = rates
    for metric in bounds:
        if (tail := tail_of(measured, metric)) is not None:
            evidence[metric] = tail
    return evidence


def plan_of(budget_s: float, phases: int, tolerance: float) -> Plan:
    """A plan that fits twice into the budget, processes' start included, and ends early once its interval is narrow."""
    share = 0.85 * budget_s / _ATTEMPTS_IN_BUDGET / max(1, phases) / PAIRED_SIDES
    warmup = min(2.0, 0.2 * share)
    return Plan(
        name="gate",
        min_rounds=20,
        max_rounds=200,
        precision=_PRECISION_SHARE * tolerance,
        warmup_limit_s=warmup,
        phase_limit_s=max(0.3, share - warmup),
        paired=True,
        quality="confirm",
        piece_s=_PIECE_S,
    )


def _look(speed: Speed, measured: tuple[Measured, ...], bounds: Mapping[str, float], levels: Levels) -> Speed:
    evidence = {**speed.evidence, **collect(measured, bounds)}
    decided = {metric: standing for metric, standing in speed.standings.items() if standing != "undecided"}
    standings = {**judge(evidence, bounds, levels), **decided}
    return replace(speed, evidence=evidence, standings=standings, measured=measured)


def _needed(scenarios: Sequence[str], speed: Speed) -> tuple[str, ...]:
    """Scenarios that an undecided metric is taken from; all of them when one may come from any."""
    wanted = {_phase_of(metric, scenarios) for metric in speed.undecided if not speed.evidence[metric].final}
    return tuple(scenarios) if None in wanted else tuple(name for name in scenarios if name in wanted)


def _tightest(bounds: Mapping[str, float], needed: Sequence[str]) -> float:
    """The smallest tolerance among the metrics of these scenarios, at least half a percent."""
    mine = [bound for metric, bound in bounds.items() if metric == "energy" or _phase_of(metric, needed) in needed]
    return max(0.005, min(mine, default=0.05))


def _phase_of(metric: str, scenarios: Sequence[str]) -> str | None:
    """The scenario that the metric is taken from; None: any."""
    return next((name for name in _PHASE_OF.get(metric.partition("_")[0], ()) if name in scenarios), None)

"""From evidence to what a report says of each metric. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.core.deployment import ExportedConfig
from autotune.core.units import format_duration
from autotune.core.values import Value
from autotune.gate.accepted import Accepted
from autotune.gate.evidence import Evidence
from autotune.gate.judging import settling_factor
from autotune.gate.quality import Compared as ComparedQuality
from autotune.gate.sides import Side, SideFailure
from autotune.gate.speed import TAILS, Speed, collect
from autotune.gate.tolerances import DEFAULTS
from autotune.gate.verdict import Compared, Standing, Verdict

__all__ = ["Judged", "entries", "failed_entry", "remedies"]

_LONGEST_S = 3600.0  # nobody waits longer for a gate
_ORDER = (
    *("accuracy", "fidelity", "latency_p50", "throughput", "response_p50", "request_rate", "goodput", "max_rate"),
    *("energy", "memory", "size", "latency_p90", "latency_p99", "response_p90", "response_p99"),
)


@dataclass(frozen=True)
class Judged:
    """Everything that a gate found. ``bounds`` are the greatest losses allowed, ``given`` the tolerances asked for."""

    head: Side
    baseline: Side
    config: ExportedConfig
    quality: ComparedQuality
    speed: Speed
    bounds: Mapping[str, float]
    given: Mapping[str, float]
    accepted: Accepted
    accepting: Mapping[str, str]


def entries(found: Judged) -> tuple[Compared, ...]:
    """One entry a metric: those that were judged, and those that are only reported."""
    evidence = {**_tails(found), **found.speed.evidence}
    known = tuple(_entry(found, metric, evidence[metric]) for metric in sorted(evidence, key=_rank))
    absent = [metric for metric in found.given if metric not in evidence and metric in found.bounds]
    return (*known, *(_absent(found, metric) for metric in absent))


def failed_entry(failure: SideFailure) -> Compared:
    """A side that does not work: the head's fault fails the gate, the baseline's leaves it without a verdict."""
    if failure.who == "head":
        return Compared(metric="outputs", standing="worse", reason=failure.reason)
    return Compared(metric="outputs", standing="undecided", reason=f"the baseline: {failure.reason}")


def remedies(verdict: Verdict, compared: Sequence[Compared]) -> tuple[str, ...]:
    """What to do about the verdict."""
    if verdict == "failed":
        worst = next(entry.metric for entry in compared if entry.standing == "worse")
        return () if worst == "outputs" else (f'if the change is intended: --accept "{worst}: the reason"',)
    waits = [entry.settle_s for entry in compared if entry.settle_s is not None]
    if verdict == "inconclusive" and waits:
        return (
            f"about {format_duration(max(waits))} of measuring would settle it: --max-budget {_budget(max(waits))}",
        )
    return ()


def _entry(found: Judged, metric: str, known: Evidence) -> Compared:
    interval = known.interval
    standing = _standing(found, metric)
    bound = found.bounds.get(metric)
    settle_s = _settle_s(found, known, bound) if standing == "undecided" and bound is not None else None
    head, baseline = _values(found, metric)
    return Compared(
        metric=metric,
        standing=standing,
        loss=Value(value=interval.value, unit="1", low=interval.low, high=interval.high),
        tolerance=_tolerance(found, metric),
        allowed=bound,
        head=head,
        baseline=baseline,
        promised=found.config.promise.metrics.get(metric),
        settle_s=settle_s,
        reason=_reason(found, metric, known, settle_s),
    )


def _standing(found: Judged, metric: str) -> Standing:
    if metric in found.accepting:
        return "accepted"
    return found.speed.standings.get(metric, "reported")


def _tolerance(found: Judged, metric: str) -> float | None:
    return {**DEFAULTS, **found.given}.get(metric) if metric in found.bounds or metric in found.accepting else None


def _settle_s(found: Judged, known: Evidence, bound: float) -> float | None:
    """Once more as much to confirm what was found once, or until the interval is as narrow as it must be."""
    factor = settling_factor(known, bound)
    if factor is None:
        return None
    wait = max(factor, 1 + 1 / max(1, len(found.speed.measured))) * found.speed.spent_s
    return wait if wait <= _LONGEST_S else None


def _reason(found: Judged, metric: str, known: Evidence, settle_s: float | None) -> str:
    if metric in found.accepting:
        return found.accepting[metric]
    change = found.accepted.of(metric, found.baseline.artifact.sha256)
    if change is not None and metric in found.bounds:
        return f"accepted: {change.reason}"
    undecided = found.speed.standings.get(metric) == "undecided"
    return _why_undecided(found, known, settle_s) if undecided else ""


def _why_undecided(found: Judged, known: Evidence, settle_s: float | None) -> str:
    if known.final:
        return "more than tolerated on these samples, but it may be luck: more samples would tell"
    if "worse" in found.speed.standings.values():
        return "not measured on: something else failed"
    if known.interval.low is None:
        return "it takes several measurements to tell: give more time with --max-budget"
    return "" if settle_s is not None else "about as large as the tolerance: no reasonable time would settle it"


def _absent(found: Judged, metric: str) -> Compared:
    """A metric that was asked for and could not be taken: it is in doubt, not passed over."""
    needs = {
        "accuracy": "it needs labelled data: give --data",
        "fidelity": "an unoptimised model is not at hand",
        "energy": "the baseline has no energy, or there is neither a counter nor a power model here",
    }
    reason = needs.get(metric, "too few requests, or the workload does not measure it")
    return Compared(metric=metric, standing="undecided", tolerance=found.given[metric], reason=reason)


def _values(found: Judged, metric: str) -> tuple[Value | None, Value | None]:
    if metric == "size":
        sizes = (side.artifact.size_bytes for side in (found.head, found.baseline))
        head, baseline = (Value(value=float(size), unit="bytes") for size in sizes)
        return head, baseline
    if metric in found.quality.evidence:
        return found.quality.head[metric], found.quality.baseline[metric]
    both = ((one.metrics.get(metric), one.theirs.get(metric)) for one in found.speed.measured)
    return next((pair for pair in both if None not in pair), (None, None))


def _tails(found: Judged) -> dict[str, Evidence]:
    """Tails are always reported, where there are requests enough for them."""
    return {
        name: known for name, known in collect(found.speed.measured, dict.fromkeys(TAILS, 0.0)).items() if name in TAILS
    }


def _rank(metric: str) -> tuple[int, str]:
    return (_ORDER.index(metric) if metric in _ORDER else len(_ORDER), metric)


def _budget(seconds: float) -> str:
    return f"{max(1, -(-int(seconds) // 60))}m" if seconds > 90 else f"{int(seconds) + 1}s"

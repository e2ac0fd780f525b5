"""Whether a measurement holds the limits, and what nearly did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from autotune.core.front import Miss
from autotune.core.limits import Limit
from autotune.core.trial import TrialRecord
from autotune.core.values import Value

__all__ = ["NEAREST", "first_broken", "holds", "nearest_misses", "violation"]

NEAREST = 5
_MOST = 1e3


def holds(limit: Limit, metrics: Mapping[str, Value]) -> bool:
    """Whether a point may be used under ``limit``.

    A limit that is held or broken by the whole interval is decided. One that the interval straddles is undecided: there the
    value itself decides (refusing every undecided point would leave nothing when data are few), and the interval is shown
    beside it. A simulated or published value holds it only with the pessimistic end of its interval: nothing will be measured
    again before somebody buys. An unknown value holds nothing.
    """
    value = metrics.get(limit.metric)
    return value is not None and value.value is not None and limit.excess(_judged(limit, value)) <= 0


def first_broken(limits: Sequence[Limit], metrics: Mapping[str, Value]) -> Limit | None:
    """Return the first limit that does not hold; None when all do."""
    return next((limit for limit in limits if not holds(limit, metrics)), None)


def violation(limit: Limit, metrics: Mapping[str, Value]) -> float:
    """How far beyond the bound, relative to it (absolute for a bound of 0); 0 or less when it holds, at most 1,000."""
    value = metrics.get(limit.metric)
    if value is None or value.value is None:
        return _MOST
    return min(limit.excess(_judged(limit, value)) / (abs(limit.bound) or 1.0), _MOST)


def nearest_misses(records: Iterable[TrialRecord], limits: Sequence[Limit]) -> tuple[Miss, ...]:
    """For each limit, the measured trials that broke it by least, at most ``NEAREST`` of them, nearest first."""
    measured = [(record.trial.id, record.measurement.metrics) for record in records if record.measurement]
    misses: list[Miss] = []
    for limit in limits:
        excesses = [
            (limit.excess(value), name)
            for name, metrics in measured
            if (value := _number(metrics, limit)) is not None and limit.excess(value) > 0
        ]
        misses += [Miss(id=name, limit=limit.text, by=by) for by, name in sorted(excesses)[:NEAREST]]
    return tuple(misses)


def _judged(limit: Limit, value: Value) -> float:
    """The number that decides; the value must be known."""
    low, high = value.interval()
    if value.provenance in ("simulated", "published"):
        return high if limit.sign == "<=" else low
    assert value.value is not None
    return value.value


def _number(metrics: Mapping[str, Value], limit: Limit) -> float | None:
    value = metrics.get(limit.metric)
    return _judged(limit, value) if value is not None and value.known else None

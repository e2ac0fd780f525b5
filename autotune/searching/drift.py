"""How far the machine moves between trials: the spread of the baseline's repeats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean, median

from autotune.core.trial import TrialRecord
from autotune.core.values import Value

__all__ = ["drift_of", "resolution", "widen"]

# Peak memory has no interval of its own, and an allocator's mood is no difference between candidates.
_RESOLUTION = {"memory": 0.02}
_SHARED_DOUBT = ("estimated", "simulated")


def drift_of(records: Iterable[TrialRecord]) -> dict[str, float]:
    """Return, by metric, the mean distance of the baseline's repeats from their median, relative to it.

    Unlike their range it does not grow with their number. Empty before the second repeat.
    """
    seen: defaultdict[str, list[float]] = defaultdict(list)
    for record in records:
        if record.trial.purpose == "baseline" and record.measurement:
            for name, value in record.measurement.metrics.items():
                if value.value is not None:
                    seen[name].append(value.value)
    return {
        name: fmean(abs(value - middle) for value in values) / abs(middle)
        for name, values in seen.items()
        if len(values) > 1 and (middle := median(values))
    }


def widen(name: str, value: Value, drift: Mapping[str, float]) -> tuple[float, float]:
    """Return the interval within which two candidates cannot be told apart by a known ``value`` of the metric ``name``.

    It is the value's own interval, at least as wide as the drift. An estimated or simulated value's interval is the
    uncertainty of its model, which candidates share: between candidates only the drift counts.
    """
    centre = value.value or 0.0
    low, high = (centre, centre) if value.provenance in _SHARED_DOUBT else value.interval()
    reach = abs(centre) * max(drift.get(name, 0.0), resolution(name))
    return min(low, centre - reach), max(high, centre + reach)


def resolution(name: str) -> float:
    """The smallest relative difference of the metric ``name`` that means anything, whatever its interval says."""
    return _RESOLUTION.get(name, 0.0)

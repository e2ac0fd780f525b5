"""What a person reads must hold a minute later: shown intervals reach as far as the machine moves between measurements."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from autotune.core.candidate import Candidate
from autotune.core.trial import TrialRecord
from autotune.core.values import Value

__all__ = ["reach_of", "reaches", "spanning", "widened"]

_LEVEL = 0.975  # two-sided 95 %
_MOST_RANGES = 1.5


def reach_of(repeats: Sequence[float]) -> float:
    """Return how far, as a logarithm, one more measurement may lie from the value of many: the 95 % prediction interval.

    From positive ``repeats`` of the same thing, taken at different times: ``t(n - 1) s sqrt(1 + 1/n)`` of their logarithms
    (Hahn & Meeker, "Statistical Intervals", 1991). One repeat tells nothing: 0. Two or three leave that factor without sense
    (t is 12.7 for two): the reach is never more than one and a half times their range.
    """
    from scipy.special import stdtrit

    count = len(repeats)
    if count < 2:
        return 0.0
    logs = np.log(np.asarray(repeats))
    predicted = float(stdtrit(count - 1, _LEVEL)) * float(np.std(logs, ddof=1)) * math.sqrt(1 + 1 / count)
    return min(predicted, _MOST_RANGES * float(np.ptp(logs)))


def reaches(records: Sequence[TrialRecord]) -> dict[str, float]:
    """The reach of each metric with a unit, from the repeats of the baseline, those for the front among them.

    Shares (accuracy, fidelity, …) do not move with the machine: repeats differ in them because the search and the front look
    at different samples, and their own intervals say what so many samples can tell.
    """
    places = {_place(record) for record in records if record.trial.purpose == "baseline"}
    seen: defaultdict[str, list[float]] = defaultdict(list)
    for record in records:
        if record.measurement and record.trial.purpose != "search" and _place(record) in places:
            for name, value in record.measurement.metrics.items():
                if value.unit != "1" and value.value is not None and value.value > 0:
                    seen[name].append(value.value)
    return {name: reach_of(values) for name, values in seen.items()}


def widened(metrics: Mapping[str, Value], reach: Mapping[str, float]) -> dict[str, Value]:
    """The metrics as they are shown. Only what was measured and has an interval of its own is widened.

    A machine has speeds that last for seconds or minutes: rounds taken in two seconds agree with each other, and not with
    those of the next minute.
    """
    return {name: _widened(value, math.exp(reach.get(name, 0.0))) for name, value in metrics.items()}


def spanning(ratios: Mapping[str, Value], repeats: Sequence[TrialRecord]) -> dict[str, Value]:
    """The ratios with intervals that reach to what any of the ``repeats`` read, the same pair in other processes.

    Two processes of one model differ for good (where their memory lies, which CPUs their threads got), which no number of
    rounds in them shows.
    """
    seen = [record.measurement.ratios for record in repeats if record.measurement]
    return {name: _spanning(value, [one[name] for one in seen if name in one]) for name, value in ratios.items()}


def _spanning(value: Value, repeats: Sequence[Value]) -> Value:
    read = [one.value for one in repeats if one.value is not None]
    if not read or value.low is None or value.high is None:
        return value
    low, high = min(value.low, *read), max(value.high, *read)
    if (low, high) == (value.low, value.high):
        return value
    return value.model_copy(update={"low": low, "high": high})


def _place(record: TrialRecord) -> tuple[str, Candidate]:
    return record.trial.device, record.trial.candidate


def _widened(value: Value, times: float) -> Value:
    if value.provenance != "measured" or value.low is None or value.high is None or times == 1.0:
        return value
    basis = f"{value.basis or ''}; ±{times - 1:.1%} between measurements".removeprefix("; ")
    return value.model_copy(update={"low": value.low / times, "high": value.high * times, "basis": basis})

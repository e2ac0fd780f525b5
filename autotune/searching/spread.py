"""What a person reads must hold a minute later: shown intervals reach as far as the machine moves between measurements."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from autotune.core.candidate import Candidate
from autotune.core.trial import TrialRecord
from autotune.core.values import Value

__all__ = ["pooled", "reach_of", "reaches", "widened"]

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


def pooled(looks: Sequence[TrialRecord]) -> TrialRecord:
    """The last of several paired measurements of one point, each in fresh processes, with the ratios of all: the middle one.

    Their intervals reach to whatever a look was certain of, and as far as one more look may lie (``reach_of``): two processes of
    one model differ for good (where their memory lies, which CPUs their threads got), which no number of rounds in them shows.
    A ratio that has no interval gets none.
    """
    last = looks[-1]
    read = [one.measurement.ratios for one in looks if one.measurement]
    if last.measurement is None or len(read) < 2:
        return last
    ratios = {name: _pooled([one[name] for one in read if name in one]) for name in last.measurement.ratios}
    return last.model_copy(update={"outcome": last.measurement.model_copy(update={"ratios": ratios})})


def _pooled(looks: Sequence[Value]) -> Value:
    last, known = looks[-1], [one for one in looks if one.value]
    values = [one.value for one in known if one.value]
    if len(values) < 2:
        return last
    value = math.exp(float(np.median(np.log(values))))
    pooled = last.model_copy(
        update={"value": value, "basis": f"{last.basis or ''}; {len(values)} pairs".removeprefix("; ")}
    )
    if last.low is None or last.high is None:
        return pooled
    times = math.exp(reach_of(values))
    low = min(value / times, *(one.interval()[0] for one in known))
    high = max(value * times, *(one.interval()[1] for one in known))
    return pooled.model_copy(update={"low": low, "high": high})


def _place(record: TrialRecord) -> tuple[str, Candidate]:
    return record.trial.device, record.trial.candidate


def _widened(value: Value, times: float) -> Value:
    if value.provenance != "measured" or value.low is None or value.high is None or times == 1.0:
        return value
    basis = f"{value.basis or ''}; ±{times - 1:.1%} between measurements".removeprefix("; ")
    return value.model_copy(update={"low": value.low / times, "high": value.high * times, "basis": basis})

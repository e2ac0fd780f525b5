"""Whether a number keeps a promise. Pure.

A shared machine changes speed by a third from one minute to the next. So the ratio to the original, measured side by side, is
what is judged wherever there is one; absolute values are judged only by a tolerance that such drift cannot exceed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from autotune.core.metrics import find_metric, percentile_of
from autotune.core.values import Value
from autotune.export.verdict import Compared, How

__all__ = [
    "ABSOLUTE",
    "CLOSE",
    "PAIRED",
    "doubt_if_busy",
    "doubt_if_moving",
    "judge_absolute",
    "judge_quality",
    "judge_ratio",
    "judge_size",
    "middle",
]

PAIRED = 1.05  # half-way to a slow-down of 10 %, several standard deviations of an undisturbed repeat away from both
CLOSE = 0.02  # nearer than this to PAIRED, one attempt does not decide
ABSOLUTE = 1.5  # beyond the drift of a shared machine
QUALITY_SAME_DATA = 0.005  # rounding differs among CPUs: a few samples may flip
QUALITY_OTHER_DATA = 0.01
SIZE = 1.01

_PEAKS = ("memory",)  # one number a process: no interval is to be had
_ROUNDING = 1e-9


def judge_ratio(metric: str, promised: Value, found: Value) -> Compared:
    """Compare two paired ratios (this / original). Broken: more than 5 % worse, and certainly worse by both intervals.

    What lies inside the promised interval is kept, however wide that is: no more was promised.
    The intervals' half-widths, as logarithms, add up as those of independent errors do. More than 5 % worse by intervals
    too wide to be certain is neither kept nor broken.
    """
    worse = _times_worse(metric, promised, found)
    if worse is None:
        return Compared(metric=metric, verdict="not compared", reason="no ratio to the original is known")
    judged = _compared(metric, worse > PAIRED, "side by side", promised, found, worse)
    if judged.verdict == "kept":
        return judged
    if _within(metric, promised, found):
        return judged.model_copy(update={"verdict": "kept", "reason": "inside the promised interval"})
    if metric not in _PEAKS and (found.low is None or found.high is None):
        return judged.model_copy(update={"verdict": "not compared", "reason": "too few rounds to tell"})
    half_width = math.hypot(_half_width(promised), _half_width(found))
    if math.log(worse) <= half_width:
        return judged.model_copy(update={"verdict": "not compared", "reason": f"too noisy to tell: ±{half_width:.0%}"})
    return judged


def doubt_if_busy(judged: Compared, *, busy: bool, longer: bool = False) -> Compared:
    """What is broken is in doubt when others had the machine: threads that share a CPU lose more than one that does not.

    A ratio beyond ``ABSOLUTE`` stands, for no neighbour does that to one side alone; unless its requests last ``longer``: whoever
    has the CPU in turn meets every batch, and few of the original's single requests. (A batch of 32 beside single requests, on
    two CPUs with three neighbours and more: four measurements of the same pair gave ratios of 1.28 to 1.92.) To a time or an
    energy by itself a neighbour does it, to a peak of memory it does not.
    """
    beyond = judged.how == "side by side" and not longer and (judged.worse or 0.0) > ABSOLUTE
    if not busy or judged.verdict != "broken" or beyond or judged.metric in _PEAKS:
        return judged
    return judged.model_copy(update={"verdict": "not compared", "reason": "the machine was busy with other things"})


def doubt_if_moving(judged: Compared, *, moving: bool) -> Compared:
    """What is broken is in doubt when the ratio drifted while it was taken, unless it is beyond ``ABSOLUTE``."""
    if not moving or judged.verdict != "broken" or (judged.worse or 0.0) > ABSOLUTE:
        return judged
    return judged.model_copy(update={"verdict": "not compared", "reason": "the ratio drifted while it was measured"})


def judge_absolute(metric: str, promised: Value, found: Value) -> Compared:
    """Compare two absolute values. Broken: more than 1.5 times as bad as the promised interval's bad end."""
    percentile = percentile_of(metric)
    if percentile is not None and percentile > 50:
        reason = "a tail is not judged without a side-by-side comparison"
        return Compared(metric=metric, verdict="not compared", promised=promised, found=found, reason=reason)
    worse = _times_worse(metric, promised, found)
    if worse is None:
        return Compared(metric=metric, verdict="not compared", reason="the value is unknown")
    low, high = promised.interval()
    bad_end = high if find_metric(metric).goal == "min" else low
    beyond = _times_worse(metric, promised.model_copy(update={"value": bad_end}), found)
    return _compared(metric, beyond is not None and beyond > ABSOLUTE, "absolute", promised, found, worse)


def judge_quality(metric: str, promised: Value, found: Value, *, same_data: bool) -> Compared:
    """Compare accuracy or fidelity. On the promise's own data a few flips are forgiven; on others the intervals decide too."""
    how: How = "on the data" if same_data else "on the samples"
    if promised.value is None or found.value is None:
        return Compared(metric=metric, verdict="not compared", reason="the value is unknown")
    sign = 1.0 if find_metric(metric).goal == "max" else -1.0
    worse = sign * (promised.value - found.value)
    grain = 1.0 / found.n if found.n else 0.0  # one sample
    broken = worse > max(QUALITY_SAME_DATA if same_data else QUALITY_OTHER_DATA, grain) + _ROUNDING
    if not same_data:
        broken = broken and _apart(promised, found)
    return _compared(metric, broken, how, promised, found, worse)


def judge_size(promised: Value, size_bytes: int) -> Compared:
    """Compare the files' size, which does not vary."""
    found = Value(value=float(size_bytes), unit="bytes")
    if not promised.value:
        return Compared(metric="size", verdict="not compared", reason="the value is unknown")
    worse = size_bytes / promised.value
    return _compared("size", worse > SIZE, "counted", promised, found, worse)


def middle(attempts: Sequence[Compared]) -> Compared:
    """One verdict from several attempts: the middle one, of two the kinder."""
    judged = sorted((entry for entry in attempts if entry.worse is not None), key=lambda entry: entry.worse or 0.0)
    return judged[(len(judged) - 1) // 2] if judged else attempts[-1]


def _compared(metric: str, broken: bool, how: How, promised: Value, found: Value, worse: float) -> Compared:
    verdict = "broken" if broken else "kept"
    return Compared.model_validate(
        {"metric": metric, "verdict": verdict, "how": how, "promised": promised, "found": found, "worse": worse}
    )


def _times_worse(metric: str, promised: Value, found: Value) -> float | None:
    if promised.value is None or found.value is None or promised.value <= 0 or found.value <= 0:
        return None
    factor = found.value / promised.value
    return factor if find_metric(metric).goal == "min" else 1 / factor


def _within(metric: str, promised: Value, found: Value) -> bool:
    """Whether ``found`` is no worse than the bad end of the promised interval."""
    low, high = promised.interval()
    value = found.value
    return value is not None and (value <= high if find_metric(metric).goal == "min" else value >= low)


def _half_width(value: Value) -> float:
    low, high = value.interval()
    return math.log(high / low) / 2 if low > 0 else 0.0


def _apart(one: Value, other: Value) -> bool:
    (one_low, one_high), (other_low, other_high) = one.interval(), other.interval()
    return one_high < other_low or other_high < one_low

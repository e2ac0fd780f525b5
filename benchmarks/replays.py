"""Measurements repeated on tapes: how often an interval holds the truth, and how far a pair of equals is from 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autotune.core.plan import Plan
from autotune.core.samples import Requests
from autotune.core.values import Value
from autotune.core.workload import Phase
from autotune.measure import Against, Measured, PhaseLoad, measure
from autotune.searching.spread import reach_of, widened
from autotune.testing.virtual_clock import VirtualClock
from benchmarks.playback import Playback
from benchmarks.tape import Tape

__all__ = ["Repeats", "measured_alone", "measured_in_pairs", "plain_ratios", "reference_s"]

CPUS = 2
PLAIN_WARM_UPS, PLAIN_RUNS = 10, 20

_LOAD = PhaseLoad(Phase(scenario="single_stream"), Requests("single_stream", ()))


@dataclass(frozen=True)
class Repeats:
    """One figure, measured over and over: what each repeat printed, and the seconds that it took."""

    values: tuple[Value, ...]
    seconds: NDArray[np.float64]

    @property
    def middles(self) -> NDArray[np.float64]:
        """The values alone."""
        return np.asarray([value.value for value in self.values], dtype=np.float64)

    def coverage(self, truth: float) -> float:
        """The share of the intervals that hold ``truth``; a value without an interval holds nothing."""
        held = [
            value.low is not None and value.high is not None and value.low <= truth <= value.high
            for value in self.values
        ]
        return float(np.mean(held))

    def printed(self, baselines: int, generator: np.random.Generator) -> Repeats:
        """The values as a search prints them that repeated its baseline ``baselines`` times, at random moments."""
        drawn = generator.integers(0, len(self.values), size=(len(self.values), baselines))
        shown = [
            widened({"latency_p50": value}, {"latency_p50": reach_of(self.middles[others])})["latency_p50"]
            for value, others in zip(self.values, drawn, strict=True)
        ]
        return Repeats(tuple(shown), self.seconds)

    def half_width(self) -> float:
        """The median of the intervals' half-widths, relative to the values."""
        ends = np.asarray([value.interval() for value in self.values])
        return float(np.median((ends[:, 1] - ends[:, 0]) / 2 / self.middles))


def measured_alone(tape: Tape, plan: Plan, repeats: int) -> Repeats:
    """``latency_p50`` measured alone, beginning at ``repeats`` moments spread evenly over the tape."""
    return _repeated(_starts(tape, repeats), lambda start: _alone(tape, plan, start))


def measured_in_pairs(tapes: dict[str, Tape], plan: Plan, repeats: int) -> Repeats:
    """The paired ratio of ``latency_p50``, a to b, beginning at moments spread evenly over the tapes."""
    return _repeated(_starts(tapes["a"], repeats), lambda start: _paired(tapes, plan, start))


def plain_ratios(tapes: dict[str, Tape], repeats: int) -> Repeats:
    """The ratio by the plain protocol from the same moments: of each session ten warm-ups, then the mean of twenty runs."""
    return _repeated(_starts(tapes["a"], repeats), lambda start: _plain(tapes, start))


def reference_s(tape: Tape) -> float:
    """The value of a long reference: the median over all rounds that nothing disturbed, or all if there are few such."""
    calm = ~tape.disturbed
    return float(np.median(tape.medians_s[calm] if calm.mean() > 0.05 else tape.medians_s))


def _starts(tape: Tape, repeats: int) -> Sequence[int]:
    return [int(start) for start in np.linspace(0, len(tape), repeats, endpoint=False)]


def _repeated(starts: Sequence[int], once: Callable[[int], tuple[Value, float]]) -> Repeats:
    found = [once(start) for start in starts]
    return Repeats(tuple(value for value, _ in found), np.asarray([seconds for _, seconds in found]))


def _alone(tape: Tape, plan: Plan, start: int) -> tuple[Value, float]:
    clock = VirtualClock()
    playback = Playback({"a": tape}, clock, start)
    measured = measure(playback.session("a"), [_LOAD], plan, clock=clock, cpus=CPUS, watch=playback)
    return measured.metrics["latency_p50"], clock.now_s()


def _paired(tapes: dict[str, Tape], plan: Plan, start: int) -> tuple[Value, float]:
    clock = VirtualClock()
    playback = Playback(tapes, clock, start)
    against = Against(playback.session("b"), (_LOAD,))
    measured: Measured = measure(
        playback.session("a"), [_LOAD], plan, clock=clock, cpus=CPUS, watch=playback, against=against
    )
    return measured.ratios["latency_p50"], clock.now_s()


def _plain(tapes: dict[str, Tape], start: int) -> tuple[Value, float]:
    """One session after the other, as two runs of a script would be."""
    row, means, seconds = start, [], 0.0
    for name in ("a", "b"):
        runs: list[float] = []
        while len(runs) < PLAIN_WARM_UPS + PLAIN_RUNS:
            runs += list(tapes[name].samples(row).latency_s)
            row += 1
        runs = runs[: PLAIN_WARM_UPS + PLAIN_RUNS]
        means.append(float(np.mean(runs[PLAIN_WARM_UPS:])))
        seconds += sum(runs)
    return Value(value=means[0] / means[1], unit="1"), seconds

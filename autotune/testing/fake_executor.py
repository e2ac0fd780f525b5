"""An executor in virtual time: a four-hour search ends in a second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.core.trial import Cost, Outcome, Trial, TrialRecord
from autotune.core.values import Value
from autotune.testing.surface import Surface
from autotune.testing.virtual_clock import VirtualClock

__all__ = ["FakeExecutor"]


@dataclass(frozen=True)
class _Running:
    ends_s: float
    record: TrialRecord


class FakeExecutor:
    """``slots`` per device. ``submitted`` lists every trial it was given, in order."""

    def __init__(self, surface: Surface, clock: VirtualClock, slots: int = 1) -> None:
        self._surface = surface
        self._clock = clock
        self._slots = slots
        self._running: list[_Running] = []
        self.submitted: list[Trial] = []
        self.bars: list[Sequence[Mapping[str, Value]]] = []

    def free_slots(self, device: str) -> int:
        """Slots of that device without a trial."""
        return self._slots - sum(running.record.trial.device == device for running in self._running)

    def submit(self, trial: Trial, bar: Sequence[Mapping[str, Value]] = ()) -> None:
        """Decide how the trial will end, and when."""
        assert self.free_slots(trial.device) > 0, "submitted to a device without a free slot"
        self.submitted.append(trial)
        self.bars.append(bar)
        duration_s = self._surface.duration_s(trial)
        record = self._record(trial, self._surface.outcome(trial), duration_s)
        self._running.append(_Running(self._clock.now_s() + duration_s, record))

    def wait(self, timeout_s: float) -> list[TrialRecord]:
        """Pass time until the first trial ends, at most ``timeout_s``."""
        until_s = self._clock.now_s() + timeout_s
        first_s = min((running.ends_s for running in self._running), default=until_s)
        self._clock.sleep(min(first_s, until_s) - self._clock.now_s())
        ended = [running for running in self._running if running.ends_s <= self._clock.now_s() + 1e-9]
        self._running = [running for running in self._running if running not in ended]
        return [running.record for running in ended]

    def cancel(self) -> list[Trial]:
        """Forget what runs."""
        trials = [running.record.trial for running in self._running]
        self._running = []
        return trials

    def shutdown(self) -> None:
        """The same, silently."""
        self.cancel()

    def _record(self, trial: Trial, outcome: Outcome, duration_s: float) -> TrialRecord:
        began_s = self._clock.unix_s()
        measure_s = max(duration_s - self._surface.overhead_s, 0.0)
        return TrialRecord(
            trial=trial,
            started_s=began_s,
            finished_s=began_s + duration_s,
            cost=Cost(measure_s=measure_s, other_s=duration_s - measure_s),
            outcome=outcome,
        )

"""What racing saved, for a person to read."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from autotune.core.trial import TrialRecord
from autotune.core.units import format_duration

__all__ = ["racing_note"]


def racing_note(records: Sequence[TrialRecord]) -> str | None:
    """``"racing stopped 9 of 38 trials early and saved about 12 s"``; None when it stopped none.

    Estimated: each of them would have measured for as long as the median of those that were measured to the end.
    (Their plan's whole time would claim too much: most trials are precise before it is used up.)
    """
    measured = [record for record in records if record.trial.purpose == "search" and record.cost.measure_s > 0]
    stopped = [record for record in measured if record.measurement and record.measurement.stopped == "dominated"]
    whole = [record.cost.measure_s for record in measured if record.measurement and record not in stopped]
    if not stopped:
        return None
    note = f"racing stopped {len(stopped)} of {len(measured)} trials early"
    if not whole:
        return note
    saved_s = sum(max(0.0, median(whole) - record.cost.measure_s) for record in stopped)
    return f"{note} and saved about {format_duration(saved_s)}" if saved_s >= 1 else note

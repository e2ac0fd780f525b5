"""One trial in one line: what was tried, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.candidate import Candidate
from autotune.core.figures import format_value
from autotune.core.metrics import find_metric
from autotune.core.objective import Objective
from autotune.core.trial import Failure, Measurement, SameAs, Trial, TrialRecord
from autotune.report.answer import difference

__all__ = ["trial_line", "trial_words"]


def trial_line(
    record: TrialRecord, baseline: Candidate, objectives: Sequence[Objective], *, several_devices: bool = False
) -> str:
    """``"t0007  precision=int8 on l40s: latency p50 1.23 ms, …"``, or the failure's stage, cause and first line.

    Where it ran is told when the search has ``several_devices``.
    """
    trial = record.trial
    again = " (side by side)" if trial.plan.paired else " (again)" if trial.repeat else ""
    what = trial_words(trial, baseline, several_devices=several_devices)
    return f"{trial.id}  {what}{again}: {_outcome(record, objectives)}"


def trial_words(trial: Trial, baseline: Candidate, *, several_devices: bool) -> str:
    """What is tried, against the baseline, and where."""
    what = "the original" if trial.candidate == baseline else difference(trial.candidate, baseline)
    return f"{what} on {trial.device}" if several_devices else what


def _outcome(record: TrialRecord, objectives: Sequence[Objective]) -> str:
    outcome = record.outcome
    if isinstance(outcome, Failure):
        message = outcome.message.strip().splitlines()
        return f"{outcome.told}{f': {message[0]}' if message else ''}"
    if isinstance(outcome, SameAs):
        return f"the same as {outcome.trial}: {outcome.reason}"
    return ", ".join([*_figures(outcome, objectives), *_remarks(outcome)])


def _figures(measured: Measurement, objectives: Sequence[Objective]) -> list[str]:
    """What all of them are when none was measured is said once, before the first."""
    found = {one.metric: measured.metrics[one.metric] for one in objectives if one.metric in measured.metrics}
    origins = {value.provenance for value in found.values()}
    if len(found) > 1 and len(origins) == 1 and "measured" not in origins:
        plain = {name: value.model_copy(update={"provenance": "measured"}) for name, value in found.items()}
        texts = [f"{find_metric(name).label} {format_value(name, value)}" for name, value in plain.items()]
        return [f"{origins.pop()} {texts[0]}", *texts[1:]]
    return [f"{find_metric(name).label} {format_value(name, value)}" for name, value in found.items()]


def _remarks(measured: Measurement) -> list[str]:
    remarks = []
    if measured.stopped == "dominated":
        remarks.append("stopped early: certainly beaten")
    if not measured.steady:
        remarks.append("never steady")
    return remarks + [note for note in measured.notes if note.startswith("warning")]

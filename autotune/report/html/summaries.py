"""The report's tables as data: where the budget went, what failed and why. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.core.trial import Failure, Purpose, SameAs, TrialRecord

__all__ = ["FailureGroup", "Spending", "budget_shares", "failure_groups", "outcome_counts"]

_PURPOSES: tuple[tuple[Purpose, str], ...] = (
    ("baseline", "the original, and its repeats"),
    ("search", "candidates"),
    ("front", "the front, measured again side by side"),
)
_FIRST = 3


@dataclass(frozen=True)
class Spending:
    """Seconds that went into one thing; ``share`` of all that was worked, 0 to 1; ``trials`` None: not spent by trials."""

    what: str
    seconds: float
    share: float
    trials: int | None = None


@dataclass(frozen=True)
class FailureGroup:
    """Trials that failed at one stage for one cause, with the runtime's words for the first of them."""

    stage: str
    cause: str
    count: int
    message: str
    trials: tuple[str, ...]


def budget_shares(records: Sequence[TrialRecord], spent_s: float) -> tuple[list[Spending], list[Spending]]:
    """Where the time went: by what was tried, and by what trials did. What no trial accounts for is "between trials"."""
    runs = [max(0.0, record.finished_s - record.started_s) for record in records]
    total = max(spent_s, sum(runs)) or 1.0
    purposes = [
        Spending(text, seconds, seconds / total, len(mine))
        for purpose, text in _PURPOSES
        if (mine := [run for run, record in zip(runs, records, strict=True) if record.trial.purpose == purpose])
        and (seconds := sum(mine)) >= 0
    ]
    rest = total - sum(runs)
    between = [Spending("between trials, starting and ending", rest, rest / total)] if rest > 0.05 else []
    return [*purposes, *between], _stages(records, total)


def _stages(records: Sequence[TrialRecord], total: float) -> list[Spending]:
    stages = {
        "building": sum(record.cost.build_s for record in records),
        "checking outputs": sum(record.cost.check_s for record in records),
        "measuring": sum(record.cost.measure_s for record in records),
        "starting and ending processes": sum(record.cost.other_s for record in records),
    }
    return [Spending(what, seconds, seconds / total) for what, seconds in stages.items() if seconds > 0]


def failure_groups(records: Sequence[TrialRecord]) -> list[FailureGroup]:
    """Failures by stage and cause, the commonest first."""
    grouped: dict[tuple[str, str], list[TrialRecord]] = {}
    for record in records:
        if isinstance(record.outcome, Failure):
            grouped.setdefault((record.outcome.stage, record.outcome.cause), []).append(record)
    groups = [_group(stage, cause, failed) for (stage, cause), failed in grouped.items()]
    return sorted(groups, key=lambda group: -group.count)


def _group(stage: str, cause: str, failed: Sequence[TrialRecord]) -> FailureGroup:
    first = failed[0].outcome
    assert isinstance(first, Failure)
    names = tuple(record.trial.id for record in failed[:_FIRST])
    return FailureGroup(stage, cause, len(failed), first.message.strip(), names)


def outcome_counts(records: Sequence[TrialRecord]) -> dict[str, int]:
    """How trials ended, in words, those that measured the front again not among them."""
    counts: Counter[str] = Counter()
    for record in records:
        if record.trial.purpose != "front":
            counts[_ending(record)] += 1
    return dict(counts)


def _ending(record: TrialRecord) -> str:
    if isinstance(record.outcome, Failure):
        return "failed"
    if isinstance(record.outcome, SameAs):
        return "the same as another"
    return "stopped early: certainly beaten" if record.outcome.stopped == "dominated" else "measured"

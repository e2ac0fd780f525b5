"""A front as one stage of the search sees it: by the search's own numbers, or by those measured again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.core.candidate import Candidate
from autotune.core.errors import AllTrialsFailed, OutOfTime
from autotune.core.front import BASELINE_ID
from autotune.core.objective import Objective
from autotune.core.trial import Failure, TrialRecord
from autotune.runs.search_file import SearchFile
from autotune.searching.axes import Axis, axes_for
from autotune.searching.contenders import Contender, Verdicts, baseline_contender, contender, judge
from autotune.searching.drift import drift_of
from autotune.searching.objectives import costs_of, usable_objectives
from autotune.searching.spread import pooled

__all__ = [
    "MORE_TIME",
    "NOT_MEASURED",
    "Found",
    "Place",
    "confirmed",
    "found_by_searching",
    "measured_again",
    "names_of",
    "place_of",
]

NOT_MEASURED = "the search ended before the unmodified model was measured"
MORE_TIME = "go on with a larger budget: autotune search --resume RUN --budget NEW-TOTAL"

Place = tuple[str, Candidate]


@dataclass(frozen=True)
class Found:
    """What points are compared by, the baseline, and who is on the front (the baseline among them when it is)."""

    objectives: tuple[Objective, ...]
    axes: tuple[Axis, ...]
    drift: Mapping[str, float]
    baseline: Contender
    verdicts: Verdicts

    @property
    def points(self) -> tuple[Contender, ...]:
        """The front without the baseline."""
        return tuple(one for one in self.verdicts.kept if one is not self.baseline)

    @property
    def hopefuls(self) -> tuple[Contender, ...]:
        """Points that noise may have kept off the front, the baseline not among them."""
        return tuple(one for one in self.verdicts.close if one is not self.baseline)


def found_by_searching(records: Sequence[TrialRecord], search: SearchFile) -> Found:
    """The front by the search's own numbers, widened by the drift: what is worth measuring again.

    Raises ``AllTrialsFailed`` or ``OutOfTime`` when the baseline was never measured.
    """
    baseline = _first_baseline(records)
    objectives, _ = usable_objectives(search.objectives, baseline)
    tried = [record for record in records if record.trial.purpose == "search" and record.measurement]
    complete = [record.measurement for record in tried if record.measurement and costs_of(record, objectives)]
    axes = axes_for(objectives, complete)
    return _judged(objectives, axes, drift_of(records), baseline, tried, names_of(records), search)


def confirmed(found: Found, records: Sequence[TrialRecord], search: SearchFile) -> Found | None:
    """The front by the paired numbers alone; None when no point was measured again."""
    again = measured_again(records)
    fresh = again.pop(place_of(found.baseline.record), None)
    paired = [record for record in again.values() if record.measurement]
    if not again and found.points:
        return None
    axes = axes_for(found.objectives, [record.measurement for record in paired if record.measurement])
    baseline = fresh if fresh is not None and fresh.measurement else found.baseline.record
    return _judged(found.objectives, axes, found.drift, baseline, paired, names_of(records), search)


def measured_again(records: Sequence[TrialRecord]) -> dict[Place, TrialRecord]:
    """What the second measurements of each point say together, the baseline's among them."""
    looks: defaultdict[Place, list[TrialRecord]] = defaultdict(list)
    for record in records:
        if record.trial.purpose == "front":
            looks[place_of(record)].append(record)
    return {place: pooled(of_one) for place, of_one in looks.items()}


def names_of(records: Sequence[TrialRecord]) -> dict[Place, str]:
    """Which trial first found each candidate, or failed to; the baseline has a name of its own. A lost trial found nothing."""
    names: dict[Place, str] = {}
    for record in records:
        lost = isinstance(record.outcome, Failure) and record.outcome.cause == "lost"
        if record.trial.purpose != "front" and not lost:
            name = BASELINE_ID if record.trial.purpose == "baseline" else record.trial.id
            names.setdefault(place_of(record), name)
    return names


def place_of(record: TrialRecord) -> Place:
    """Where, and with what, a trial ran."""
    return record.trial.device, record.trial.candidate


def _judged(
    objectives: tuple[Objective, ...],
    axes: tuple[Axis, ...],
    drift: Mapping[str, float],
    baseline: TrialRecord,
    tried: Sequence[TrialRecord],
    names: Mapping[Place, str],
    search: SearchFile,
) -> Found:
    home = search.space.baseline
    placed = [contender(names.get(place_of(record), record.trial.id), record, axes, drift, home) for record in tried]
    base = baseline_contender(baseline, axes, drift)
    verdicts = judge(base, [one for one in placed if one is not None], search.context.limits)
    return Found(objectives, axes, drift, base, verdicts)


def _first_baseline(records: Sequence[TrialRecord]) -> TrialRecord:
    for record in records:
        if record.trial.purpose == "baseline" and record.measurement:
            return record
    failures = [record.outcome for record in records if isinstance(record.outcome, Failure)]
    if not failures:
        raise OutOfTime(NOT_MEASURED, MORE_TIME)
    why = failures[0].message.partition(chr(10))[0]
    raise AllTrialsFailed(f"the unmodified model was never measured: {why}", "mend that first, then search again")

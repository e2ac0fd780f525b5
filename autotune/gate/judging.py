"""From evidence to standings: sequential, corrected for the number of metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Literal

from autotune.gate.evidence import Evidence
from autotune.measure.stopping import spent_alpha

__all__ = ["FALSE_FAILURE", "FALSE_PASS", "Levels", "Standing", "judge", "settling_factor"]

Standing = Literal["worse", "within", "undecided"]

FALSE_FAILURE = 0.01  # for all metrics and looks of one gate together
FALSE_PASS = 0.05  # for each metric, over all looks


@dataclass(frozen=True)
class Levels:
    """The error that one look may spend: ``fail`` on all metrics together, ``keep`` on each."""

    fail: float
    keep: float

    @classmethod
    def between(cls, before: float, now: float) -> Levels:
        """Of a look at the share ``now`` of the longest gate, the one before it having been at ``before`` (both 0..1).

        By the spending function of ``measure.stopping`` (Lan & DeMets 1983): over all looks no more than the whole is spent.
        """
        fail, keep = (spent_alpha(now, alpha) - spent_alpha(before, alpha) for alpha in (FALSE_FAILURE, FALSE_PASS))
        return cls(max(fail, 1e-12), max(keep, 1e-12))


def judge(evidence: Mapping[str, Evidence], bounds: Mapping[str, float], levels: Levels) -> dict[str, Standing]:
    """The standing of each metric that has both evidence and a bound.

    A gate fails when any metric is worse, so each is tested at a level corrected for their number. It passes only when every
    one is within, which needs no correction: all of them have to be wrong at once (Berger, Technometrics 1982).
    """
    judged = {metric: known for metric, known in evidence.items() if metric in bounds}
    worse = _beyond(judged, bounds, levels)
    return {metric: _standing(metric, known, bounds[metric], worse, levels) for metric, known in judged.items()}


def settling_factor(evidence: Evidence, bound: float) -> float | None:
    """How many times as much measuring would probably settle it; None: none would, or it needs none.

    Intervals shrink with the root of the number of rounds, so they must be as much narrower as the loss is nearer to the bound.
    """
    interval = evidence.interval
    if evidence.final or interval.low is None or interval.high is None:
        return None
    margin = abs(bound - interval.value)
    half = (interval.high - interval.low) / 2
    return None if margin == 0 else max(1.0, (half / margin) ** 2)


def _beyond(evidence: Mapping[str, Evidence], bounds: Mapping[str, float], levels: Levels) -> Set[str]:
    """Metrics that are certainly worse, by Holm's step-down procedure (Scandinavian Journal of Statistics 1979).

    As long as some of the ``k`` remaining metrics is certain at the level divided by ``k``, it is taken out and ``k`` falls.
    What more measuring cannot change is looked at once, and may spend the whole level then.
    """
    remaining = set(evidence)
    while remaining:
        found = {metric for metric in remaining if _certain(evidence[metric], bounds[metric], levels, len(remaining))}
        if not found:
            break
        remaining -= found
    return set(evidence) - remaining


def _certain(known: Evidence, bound: float, levels: Levels, count: int) -> bool:
    return known.beyond(bound, (FALSE_FAILURE if known.final else levels.fail) / count)


def _standing(metric: str, known: Evidence, bound: float, worse: Set[str], levels: Levels) -> Standing:
    if metric in worse and known.confirmed(bound):
        return "worse"
    return "within" if metric not in worse and known.within(bound, levels.keep) else "undecided"

"""How thoroughly to measure, given the budget and how fast the model is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from autotune.core.plan import PAIRED_SIDES, Part, Plan
from autotune.core.trial import TrialRecord

__all__ = ["Plans", "duration_s", "latency_s", "overhead_s"]

_UNBOUNDED_S = 600.0  # a search without a time budget measures as one of ten minutes does
_SHORTEST_S, _LONGEST_S = 0.25, 3.0  # of a search trial's phase
_SHORTEST_PAIR_S, _LONGEST_PAIR_S = 0.25, 10.0  # of a paired phase, each side
_PAIR_WARMUP = 0.25  # of the phase, each side
_PAIR_SHARE = 1.1 * PAIRED_SIDES * (1 + _PAIR_WARMUP)  # of the phase; 10 % for the pair that passes the limit
_TRAINING = 1.2  # of the time that a training may take: it opens the teacher before, and looks at what it learned after
_PAIR_OVERHEAD = 1.5  # two sessions are opened, in one trial's process


def duration_s(record: TrialRecord) -> float:
    """Wall time of a trial, in seconds."""
    return max(record.finished_s - record.started_s, 0.0)


def latency_s(record: TrialRecord) -> float | None:
    """Seconds per request of batch 1, or per item; None when neither was measured."""
    metrics = record.measurement.metrics if record.measurement else {}
    latency, throughput = metrics.get("latency_p50"), metrics.get("throughput")
    if latency and latency.value:
        return latency.value
    return 1.0 / throughput.value if throughput and throughput.value else None


def overhead_s(record: TrialRecord) -> float:
    """What a trial costs beside measuring, in seconds: start, build, open, check."""
    measuring = record.cost.measure_s
    return max(duration_s(record) - measuring, record.cost.total_s - measuring, 0.1)


@dataclass(frozen=True)
class Plans:
    """Plans of one search. ``budget_s`` None: no time budget. ``phases``: of the workload.

    ``load_s``: seconds that its phases under load take for themselves, whatever the budget: percentiles need their requests.
    ``recovery_s``: seconds that a build may take besides, where a pruned model is trained again.
    ``whole``: the data are too few to be split, so that the front's quality comes from all of them.
    Two minutes on a fast model leave a phase 0.25 s, so that 30 trials with 2 s of process start and check each fit; from
    20 minutes on it is 3 s.
    """

    budget_s: float | None
    phases: int = 1
    whole: bool = False
    memory_limit_bytes: int | None = None
    load_s: float = 0.0
    recovery_s: float = 0.0

    @property
    def _total_s(self) -> float:
        return _UNBOUNDED_S if self.budget_s is None else self.budget_s

    @property
    def confirm(self) -> Part:
        """Which part of the data the front's quality is taken from."""
        return "all" if self.whole else "confirm"

    def baseline(self) -> Plan:
        """The first trial's: nothing is known of the model yet."""
        return self._plan("baseline", 1.5 * self._phase_s(), max(30.0, self._total_s / 2) + 3 * self.load_s)

    def search(self, baseline: TrialRecord) -> Plan:
        """A search trial's, given the baseline's record: long enough for five runs of a slow model if the budget allows."""
        needed = 5 * (latency_s(baseline) or 0.0)
        phase_s = max(self._phase_s(), min(needed, self._total_s / 40 / self.phases))
        expected = overhead_s(baseline) + self.phases * 2 * phase_s
        limit_s = min(max(self._total_s / 20, 20.0, 10 * expected), max(20.0, self._total_s / 4))
        return self._plan("search", phase_s, limit_s + 3 * self.load_s + _TRAINING * self.recovery_s)

    def front(self, baseline: TrialRecord, per_point_s: float, beside_s: float | None = None) -> Plan | None:
        """A paired plan that fits in ``per_point_s``; None when even the shortest does not.

        ``beside_s``: what a paired trial costs beside measuring; None: not known yet, half as much again as the baseline's.
        """
        floor = self._pair_floor_s(baseline)
        beside_s = _PAIR_OVERHEAD * overhead_s(baseline) if beside_s is None else beside_s
        spare = per_point_s - beside_s - PAIRED_SIDES * self.load_s
        phase_s = min(spare / self.phases / _PAIR_SHARE, max(_LONGEST_PAIR_S, floor))
        if phase_s < floor * (1 - 1e-9):
            return None
        plan = self._plan("front", phase_s, max(20.0, 4 * self._pair_s(baseline, phase_s)), warmup=_PAIR_WARMUP)
        return plan.model_copy(update={"paired": True, "quality": self.confirm, "max_rounds": 200})

    def shortest_pair_s(self, baseline: TrialRecord) -> float:
        """Seconds that a point measured again costs at least."""
        return self._pair_s(baseline, self._pair_floor_s(baseline))

    def wanted_pair_s(self, baseline: TrialRecord) -> float:
        """Seconds that a look at a point should get under this budget: as long a phase, each side, as in the search."""
        return self._pair_s(baseline, max(self._pair_floor_s(baseline), self._phase_s()))

    def fresh_baseline(self, front: Plan) -> Plan:
        """The plan of the baseline measured again beside the front: the front's, but alone."""
        return front.model_copy(update={"name": "front-baseline", "paired": False})

    def _pair_floor_s(self, baseline: TrialRecord) -> float:
        """The shortest paired phase, each side: eight runs of a slow model."""
        return max(_SHORTEST_PAIR_S, 8 * (latency_s(baseline) or 0.0))

    def _pair_s(self, baseline: TrialRecord, phase_s: float) -> float:
        loads_s = PAIRED_SIDES * self.load_s
        return _PAIR_OVERHEAD * overhead_s(baseline) + loads_s + self.phases * _PAIR_SHARE * phase_s

    def _phase_s(self) -> float:
        return min(max(self._total_s / 400, _SHORTEST_S), _LONGEST_S)

    def _plan(self, name: str, phase_s: float, limit_s: float, warmup: float = 0.8) -> Plan:
        hasty = phase_s < 1.0
        return Plan(
            name=name,
            round_s=round(min(max(phase_s / 15, 0.01), 0.1), 3),
            min_rounds=5 if hasty else 8,
            max_rounds=60,
            precision=0.02 if hasty else 0.01,
            warmup_limit_s=_tidy(min(max(warmup * phase_s, 0.05), 2.0)),
            phase_limit_s=_tidy(phase_s),
            time_limit_s=float(math.ceil(limit_s)),
            memory_limit_bytes=self.memory_limit_bytes,
        )


def _tidy(seconds: float) -> float:
    """Three significant digits: plans are part of keys, and people read them."""
    return float(f"{seconds:.3g}")

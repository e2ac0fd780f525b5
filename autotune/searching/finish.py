"""How a search ends: the front measured again, assembled and written."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.front import Front
from autotune.core.ports import Executor, Tracker
from autotune.core.watching import Observer
from autotune.searching.budget import Budget
from autotune.searching.front import front_of
from autotune.searching.plans import Plans
from autotune.searching.remeasure import remeasure
from autotune.searching.roles import Journal, Stop

__all__ = ["finish"]


def finish(
    executor: Executor,
    run: Journal,
    budget: Budget,
    trackers: Sequence[Tracker],
    *,
    plans: Plans,
    stop: Stop | None = None,
    observer: Observer | None = None,
) -> Front:
    """Measure the front again, unless it is simulated or a stop was requested; write it into ``run`` and return it.

    Raises ``AllTrialsFailed`` when the baseline was never measured. Whether anything is feasible is the caller's to ask
    (``refuse_nothing_feasible``): the front is written either way, with the nearest misses.
    """
    if run.search.kind == "real" and (stop is None or not stop.requested):
        remeasure(executor, run, budget, trackers, plans=plans, stop=stop, observer=observer)
    front = front_of(run.records(), run.search)
    run.write_front(front)
    return front

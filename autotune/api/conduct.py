"""Runs a prepared search to its end: executor, sampler, tracker, front. The effects of a search start here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autotune import plugins
from autotune.api.notebook import ShownFront
from autotune.api.reporting import try_report
from autotune.api.run import Run
from autotune.api.tracker_set_up import TrackerSetUp
from autotune.api.tracking import TRACKER, exported_points
from autotune.core.clock import Clock, SystemClock
from autotune.core.front import Front
from autotune.core.ports import Executor, Tracker
from autotune.core.recovery import RECOVERY
from autotune.core.space import SearchSpace
from autotune.core.watching import Observer
from autotune.measure.load_time import loads_s
from autotune.report import front_markdown
from autotune.runs.folder import RunFolder
from autotune.runs.search_file import SearchFile
from autotune.searching import Budget, Ending, Plans, Stop, finish, refuse_nothing_feasible, search
from autotune.searching.optuna_sampler import OptunaSampler
from autotune.searching.savings import racing_note

__all__ = ["conduct"]


def conduct(
    folder: RunFolder,
    *,
    budget: Budget,
    observer: Observer,
    stop: Stop,
    address: str | None = None,
    clock: Clock | None = None,
) -> Run:
    """Search in ``folder``, from wherever its journal stands, and write the front.

    Raises ``NothingFeasible`` when no point holds every limit, ``AllTrialsFailed`` when the unmodified model does not run.
    """
    stop.heeded = True
    asked, plans = folder.search, _plans(folder.search)
    sampler = OptunaSampler(asked.space, asked.context, plans, asked.max_trials)
    with (
        _tracker(folder, observer) as trackers,
        _executor(folder, address, TrackerSetUp(trackers, observer, stop)) as executor,
    ):
        ending = search(
            sampler,
            executor,
            folder,
            budget,
            trackers,
            clock or SystemClock(),
            plans=plans,
            stop=stop,
            observer=observer,
        )
        for note in (str(ending), racing_note(folder.records())):
            if note is not None:
                observer.note(note)
        front = finish(executor, folder, budget, trackers, plans=plans, stop=stop, observer=observer)
        try_report(folder, front, observer.note)
        _show(folder, front, trackers)
    refuse_nothing_feasible(front)
    return Run(folder.path, ShownFront.of(front), _ending(ending, stop))


def _plans(asked: SearchFile) -> Plans:
    return Plans(
        asked.budget_s,
        phases=len(asked.workload.phases),
        whole=asked.data.split.whole,
        load_s=loads_s(asked.context),
        recovery_s=_recovery_s(asked.space),
    )


@contextmanager
def _executor(folder: RunFolder, address: str | None, set_up: TrackerSetUp) -> Iterator[Executor]:
    """Start the executor while the tracker gets ready: each takes seconds."""
    factory = plugins.executor_factory(folder.search.executor)
    noted = set_up.begin(folder)
    executor = factory(folder.search.context, address)
    try:
        set_up.end(noted)
        yield executor
    finally:
        executor.shutdown()


@contextmanager
def _tracker(folder: RunFolder, observer: Observer) -> Iterator[list[Tracker]]:
    asked = folder.search.tracking
    if not asked.enabled:
        yield []
        return
    tracker: Tracker = plugins.tracker_factory(TRACKER)(folder.search, asked.uri, folder.path, observer.note)
    try:
        yield [tracker]
    finally:
        tracker.close()


def _show(folder: RunFolder, front: Front, trackers: list[Tracker]) -> None:
    if not trackers:
        return
    if front.kind == "simulated":  # nothing was built that could be shipped
        for tracker in trackers:
            tracker.finish(front, front_markdown(front), {})
        return
    with exported_points(folder, front) as exports:
        for tracker in trackers:
            tracker.finish(front, front_markdown(front), exports)


def _recovery_s(space: SearchSpace) -> float:
    """Seconds that the longest training takes; 0: there is none."""
    offered = space.parameter(RECOVERY)
    return max((float(seconds) for seconds in offered.choices), default=0.0) if offered is not None else 0.0


def _ending(ending: Ending, stop: Stop) -> Ending:
    """The ending, with the signal of a stop that came while the front was measured again."""
    return Ending("stopped", ending.trials, stop.signal) if stop.requested else ending

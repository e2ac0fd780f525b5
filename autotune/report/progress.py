"""A search as it goes: live on a terminal, one line a trial when piped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from autotune.core.clock import Clock, SystemClock
from autotune.core.limits import parse_limit
from autotune.core.trial import Trial, TrialRecord
from autotune.core.units import format_duration
from autotune.report.answer import difference
from autotune.report.pace import Pace
from autotune.report.standing import Standing, best_line, standing
from autotune.report.trial_line import trial_line
from autotune.runs.search_file import SearchFile

__all__ = ["LiveProgress", "Observer", "PlainProgress", "progress"]


class Observer(Protocol):
    """Is told what a search does. None of its methods may raise or take long."""

    def on_start(self, search: SearchFile, spent_s: float = 0.0) -> None:
        """The search begins, or goes on after ``spent_s`` seconds of earlier work."""
        ...

    def on_submit(self, trial: Trial) -> None:
        """A trial was handed to the executor."""
        ...

    def on_record(self, record: TrialRecord, records_so_far: Sequence[TrialRecord]) -> None:
        """A trial ended; ``records_so_far`` holds its record too."""
        ...

    def on_phase(self, text: str) -> None:
        """Something else than trials goes on: say what."""
        ...

    def on_end(self) -> None:
        """The search is over, well or not. Calling it again does nothing."""
        ...


def progress(console: Console, clock: Clock | None = None) -> Observer:
    """The observer that suits ``console``."""
    return LiveProgress(console, clock) if console.is_terminal else PlainProgress(console, clock)


class PlainProgress:
    """One line an event, without control characters: for pipes and log files."""

    def __init__(self, console: Console, clock: Clock | None = None) -> None:
        self._console = console
        self._clock = clock or SystemClock()
        self._search: SearchFile | None = None
        self._pace: Pace | None = None

    def on_start(self, search: SearchFile, spent_s: float = 0.0) -> None:
        """Print what is searched, and for how long."""
        self._search, self._pace = search, Pace.start(search, spent_s, self._clock)
        self._print(_headline(search))
        for remark in search.remarks:
            self._print(f"note: {remark}")

    def on_submit(self, trial: Trial) -> None:
        """Print nothing: the record's line says it all."""

    def on_record(self, record: TrialRecord, records_so_far: Sequence[TrialRecord]) -> None:
        """Print the trial's line, and what is left."""
        if self._search is None or self._pace is None:
            return
        line = trial_line(record, self._search.space.baseline, self._search.objectives)
        left = self._pace.left(len(records_so_far))
        self._print(f"{line}{f'  [{left}]' if left else ''}")

    def on_phase(self, text: str) -> None:
        """Print it."""
        self._print(text)

    def on_end(self) -> None:
        """Print nothing: the answer follows."""

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class LiveProgress:
    """A few lines that are redrawn when something happens, and only then: a timer would disturb the trial being measured."""

    def __init__(self, console: Console, clock: Clock | None = None) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._clock = clock or SystemClock()
        self._search: SearchFile | None = None
        self._pace: Pace | None = None
        self._standing: Standing | None = None
        self._running: dict[str, Trial] = {}
        self._phase = ""

    def on_start(self, search: SearchFile, spent_s: float = 0.0) -> None:
        """Show what is searched."""
        self._search, self._pace = search, Pace.start(search, spent_s, self._clock)
        for remark in search.remarks:
            self._live.console.print(f"note: {remark}", markup=False)
        self._live.start()
        self._redraw()

    def on_submit(self, trial: Trial) -> None:
        """Show it among those under way."""
        self._running[trial.id] = trial
        self._redraw()

    def on_record(self, record: TrialRecord, records_so_far: Sequence[TrialRecord]) -> None:
        """Show where the search stands now."""
        self._running.pop(record.trial.id, None)
        if self._search is not None:
            limits = [parse_limit(text) for text in self._search.limits]
            self._standing = standing(records_so_far, self._search.objectives, limits)
        self._redraw()

    def on_phase(self, text: str) -> None:
        """Show it above the trials."""
        self._phase = text
        self._redraw()

    def on_end(self) -> None:
        """Clear the display: the answer follows."""
        self._live.stop()

    def _redraw(self) -> None:
        if self._search is not None and self._pace is not None:
            lines = _live_lines(self._search, self._pace, self._standing, list(self._running.values()), self._phase)
            self._live.update(Group(*lines), refresh=True)


def _headline(search: SearchFile) -> str:
    budget = f"budget {format_duration(search.budget_s)}" if search.budget_s is not None else "no time limit"
    trials = f", at most {search.max_trials} trials" if search.max_trials is not None else ""
    objectives = ", ".join(objective.metric for objective in search.objectives)
    return f"{search.id}: {search.model.path.name} for {objectives}; {budget}{trials}"


def _live_lines(
    search: SearchFile, pace: Pace, now: Standing | None, running: Sequence[Trial], phase: str
) -> list[Text]:
    done = now.done if now is not None else 0
    left = pace.left(done)
    lines = [Text(_headline(search), style="bold"), Text(f"{done} trials done{f', {left}' if left else ''}")]
    if phase:
        lines.append(Text(phase))
    lines += [
        Text(f"{trial.id} {difference(trial.candidate, search.space.baseline)}", style="dim") for trial in running
    ]
    if now is not None:
        lines.append(Text(f"best so far: {best_line(now, search.objectives)}"))
        lines.append(Text(f"{len(now.front)} on the front so far{_causes(now)}"))
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return lines


def _causes(now: Standing) -> str:
    failed = ", ".join(f"{count} {cause}" for cause, count in now.failures.items())
    same = f"; {now.same} were the same as another" if now.same else ""
    return f"{f'; failed: {failed}' if failed else ''}{same}"

"""A search as it goes: live on a terminal, one line a trial when piped."""

from __future__ import annotations

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from autotune.core.trial import Trial, TrialRecord
from autotune.core.units import format_duration
from autotune.core.watching import Observer, Progress, Watched
from autotune.report.answer import difference
from autotune.report.pace import left
from autotune.report.standing import best_line, front_line
from autotune.report.trial_line import trial_line

__all__ = ["LiveProgress", "PlainProgress", "progress"]


def progress(console: Console) -> Observer:
    """The observer that suits ``console``."""
    return LiveProgress(console) if console.is_terminal else PlainProgress(console)


class PlainProgress:
    """One line an event, without control characters: for pipes and log files."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._search: Watched | None = None

    def began(self, search: Watched, spent_s: float) -> None:  # noqa: ARG002  -- each trial's line tells what is left
        """Print what is searched, and for how long."""
        self._search = search
        self.note(_headline(search))
        for remark in search.remarks:
            self.note(f"note: {remark}")

    def started(self, trial: Trial) -> None:
        """Print nothing: the record's line says it all."""

    def finished(self, record: TrialRecord, progress: Progress) -> None:
        """Print the trial's line, and what is left."""
        if self._search is not None:
            line = trial_line(record, self._search.baseline, self._search.objectives)
            rest = left(self._search, progress.spent_s, progress.trials)
            self.note(f"{line}{f'  [{rest}]' if rest else ''}")

    def note(self, text: str) -> None:
        """Print it."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def ended(self) -> None:
        """Print nothing: the answer follows."""


class LiveProgress:
    """A few lines that are redrawn when something happens, and only then: a timer would disturb the trial being measured."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._search: Watched | None = None
        self._spent_s = 0.0
        self._progress: Progress | None = None
        self._running: dict[str, Trial] = {}

    def began(self, search: Watched, spent_s: float) -> None:
        """Show what is searched."""
        self._search, self._spent_s = search, spent_s
        for remark in search.remarks:
            self.note(f"note: {remark}")
        self._live.start()
        self._redraw()

    def started(self, trial: Trial) -> None:
        """Show it among those under way."""
        self._running[trial.id] = trial
        self._redraw()

    def finished(self, record: TrialRecord, progress: Progress) -> None:
        """Show where the search stands now."""
        self._running.pop(record.trial.id, None)
        self._spent_s, self._progress = progress.spent_s, progress
        self._redraw()

    def note(self, text: str) -> None:
        """Print it above the display, where it stays."""
        self._live.console.print(text, markup=False, highlight=False)

    def ended(self) -> None:
        """Clear the display: the answer follows."""
        self._live.stop()

    def _redraw(self) -> None:
        if self._search is not None:
            lines = _live_lines(self._search, self._spent_s, self._progress, list(self._running.values()))
            self._live.update(Group(*lines), refresh=True)


def _headline(search: Watched) -> str:
    budget = f"budget {format_duration(search.budget_s)}" if search.budget_s is not None else "no time limit"
    trials = f", at most {search.max_trials} trials" if search.max_trials is not None else ""
    objectives = ", ".join(objective.metric for objective in search.objectives)
    return f"search {search.id}: {search.model} for {objectives}; {budget}{trials}"


def _live_lines(search: Watched, spent_s: float, now: Progress | None, running: list[Trial]) -> list[Text]:
    done = now.trials if now is not None else 0
    rest = left(search, spent_s, done)
    lines = [Text(_headline(search), style="bold"), Text(f"{done} trials done{f', {rest}' if rest else ''}")]
    lines += [Text(f"{trial.id} {difference(trial.candidate, search.baseline)}", style="dim") for trial in running]
    if now is not None:
        lines.append(Text(f"best so far: {best_line(now, search.objectives)}"))
        lines.append(Text(front_line(now)))
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return lines

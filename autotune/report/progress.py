"""A search as it goes: live on a terminal, one line a trial when piped."""

from __future__ import annotations

from rich.console import Console
from rich.live import Live

from autotune.core.trial import Trial, TrialRecord
from autotune.core.watching import Observer, Progress, Watched
from autotune.report.live_view import headline, live_view
from autotune.report.pace import left
from autotune.report.standing import failures
from autotune.report.trial_line import trial_line

__all__ = ["LiveProgress", "PlainProgress", "progress"]


def progress(console: Console) -> Observer:
    """The observer that suits ``console``."""
    live = console.is_terminal and not console.is_dumb_terminal
    return LiveProgress(console) if live else PlainProgress(console)


class PlainProgress:
    """One line an event, without control characters: for pipes and log files."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._search: Watched | None = None
        self._progress: Progress | None = None

    def began(self, search: Watched, spent_s: float) -> None:  # noqa: ARG002  -- each trial's line tells what is left
        """Print what is searched, and for how long."""
        self._search = search
        self.note(headline(search))
        for remark in search.remarks:
            self.note(f"note: {remark}")

    def started(self, trial: Trial) -> None:
        """Print nothing: the record's line says it all."""

    def finished(self, record: TrialRecord, progress: Progress) -> None:
        """Print the trial's line, and what is left."""
        self._progress = progress
        if self._search is not None:
            search = self._search
            line = trial_line(record, search.baseline, search.objectives, several_devices=search.several_devices)
            rest = left(self._search, progress.spent_s, progress.trials)
            self.note(f"{line}{f'  [{rest}]' if rest else ''}")

    def note(self, text: str) -> None:
        """Print it."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def ended(self) -> None:
        """Print how many failed, by cause: the answer follows."""
        now, self._progress = self._progress, None
        if now is not None and now.failures:
            self.note(failures(now))


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
        """Clear the display but for how many failed, by cause: the answer follows."""
        self._live.stop()
        now, self._progress = self._progress, None
        if now is not None and now.failures:
            self.note(failures(now))

    def _redraw(self) -> None:
        if self._search is not None:
            running = list(self._running.values())
            self._live.update(live_view(self._search, self._spent_s, self._progress, running), refresh=True)

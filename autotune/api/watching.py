"""Shows a search on a display: what the loop tells, turned into what a person is shown."""

from __future__ import annotations

from autotune.core.trial import Trial, TrialRecord
from autotune.report import Observer as Display
from autotune.runs.folder import RunFolder
from autotune.searching import Progress

__all__ = ["Watching"]


class Watching:
    """Implements ``searching.Observer`` over a display that wants all records so far."""

    def __init__(self, display: Display, folder: RunFolder) -> None:
        self._display, self._folder = display, folder

    def started(self, trial: Trial) -> None:
        """Show it among those under way."""
        self._display.on_submit(trial)

    def finished(self, record: TrialRecord, progress: Progress) -> None:  # noqa: ARG002  # the display counts by itself
        """Show how it ended."""
        self._display.on_record(record, self._folder.records())

    def note(self, text: str) -> None:
        """Show it."""
        self._display.on_phase(text)

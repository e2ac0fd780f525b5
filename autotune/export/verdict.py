"""What ``verify`` found: one verdict a metric, one for the folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from autotune.core.errors import ExitCode
from autotune.core.figures import format_number, format_value
from autotune.core.frozen import FileRecord, Record
from autotune.core.metrics import find_metric
from autotune.core.values import Value

__all__ = ["Compared", "How", "Verdict", "VerifyReport", "overall"]

Verdict = Literal["kept", "broken", "another machine", "not compared"]
How = Literal["side by side", "absolute", "on the samples", "on the data", "counted", ""]

_EXIT = {
    "kept": ExitCode.DONE,
    "broken": ExitCode.BROKEN,
    "another machine": ExitCode.INCONCLUSIVE,
    "not compared": ExitCode.INCONCLUSIVE,
}


class Compared(Record):
    """One metric (or ``outputs``: whether the model opens and answers sanely).

    ``promised`` and ``found`` are ratios to the original when it was compared ``side by side``; None: there is none.
    ``worse`` is by how much it got worse: a factor (1.1 is 10 %) for metrics with a unit, an absolute difference for those of
    unit 1; None when nothing was compared. ``reason`` says why not, or what is wrong; empty when there is nothing to say.
    """

    metric: str
    verdict: Verdict
    how: How = ""
    promised: Value | None = None
    found: Value | None = None
    worse: float | None = None
    reason: str = ""

    @property
    def in_question(self) -> bool:
        """Whether it was measured, or should have been, and could not be told."""
        return self.verdict == "not compared" and self.how in ("side by side", "absolute")

    def __str__(self) -> str:
        said = ": ".join(part for part in (self._figures(), self.reason) if part)
        return f"{self.verdict}: {self.metric}{f' {said}' if self._figures() else f': {said}' if said else ''}"

    def _figures(self) -> str:
        if self.promised is None or self.found is None:
            return ""
        if self.how == "side by side":
            promised, found = (_times(value) for value in (self.promised, self.found))
            text = f"{found} the original's, promised {promised}"
        else:
            text = f"{format_value(self.metric, self.found)}, promised {format_value(self.metric, self.promised)}"
        return f"{text}{self._by()}{f' ({self.how})' if self.how else ''}"

    def _by(self) -> str:
        if self.verdict != "broken" or self.worse is None:
            return ""
        relative = find_metric(self.metric).relative
        return (
            f", {format_number((self.worse - 1) * 100)} % worse"
            if relative
            else f", worse by {format_number(self.worse)}"
        )


class VerifyReport(FileRecord):
    """The verdict on a whole folder. ``attempts`` counts how often speed was measured, each time in fresh processes."""

    schema_: str = Field(default="autotune/verify/1", alias="schema")
    folder: Path
    verdict: Verdict
    compared: tuple[Compared, ...]
    attempts: int = 0
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """0 kept, 1 broken, 4 another machine or nothing to compare."""
        return _EXIT[self.verdict]

    @property
    def sentence(self) -> str:
        """The verdict, and which metrics made it."""
        telling = [entry for entry in self.compared if entry.verdict == self.verdict]
        if self.verdict == "not compared":
            telling = [entry for entry in telling if entry.in_question] or telling
        names = ", ".join(entry.metric for entry in telling)
        return f"{self.verdict}: {names}" if names else self.verdict

    def __str__(self) -> str:
        return "\n".join(
            [self.sentence, *(f"  {entry}" for entry in self.compared), *(f"  {note}" for note in self.notes)]
        )


def overall(compared: Sequence[Compared]) -> Verdict:
    """The folder's verdict: broken as soon as one metric is; kept when something was compared and nothing is in question.

    A metric that looks worse, but too noisily to tell, is in question: then nothing is said of the whole.
    """
    found = {entry.verdict for entry in compared}
    in_question = any(entry.in_question for entry in compared)
    order: tuple[Verdict, ...] = ("broken", "another machine", "kept")
    verdict: Verdict = next((verdict for verdict in order if verdict in found), "not compared")
    return "not compared" if verdict == "kept" and in_question else verdict


def _times(value: Value) -> str:
    return "unknown" if value.value is None else f"{format_number(value.value)}×"

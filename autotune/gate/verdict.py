"""What a gate found: one verdict a metric, one for the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from autotune.core.environment import Environment
from autotune.core.errors import ExitCode
from autotune.core.frozen import FileRecord, Record
from autotune.core.values import Value

__all__ = ["Compared", "GateReport", "Inconclusive", "Standing", "Verdict", "overall"]

Standing = Literal["worse", "within", "undecided", "accepted", "reported", "not compared"]
Verdict = Literal["passed", "failed", "inconclusive"]
Inconclusive = Literal["exit4", "fail", "pass"]

_EXIT = {"passed": ExitCode.DONE, "failed": ExitCode.BROKEN, "inconclusive": ExitCode.INCONCLUSIVE}
_EXIT_OF_DOUBT = {"exit4": ExitCode.INCONCLUSIVE, "fail": ExitCode.BROKEN, "pass": ExitCode.DONE}


class Compared(Record):
    """One metric (or ``outputs``: whether the head opens and answers sanely).

    ``loss`` says how much worse the head is, with its 95 % interval: relative for metrics with a unit, absolute for those of
    unit 1, below 0 when it is better; None: unknown. ``tolerance`` None: none was asked for, the metric is only reported.
    ``allowed`` is the tolerance widened by what was accepted. ``promised`` is the baseline's own number, which was taken
    elsewhere or earlier. ``settle_s``: seconds of measuring that would probably decide it; None: it is decided, or none would.
    ``reason``: what is wrong or was accepted; empty when there is nothing to say.
    """

    metric: str
    standing: Standing
    loss: Value | None = None
    tolerance: float | None = None
    allowed: float | None = None
    head: Value | None = None
    baseline: Value | None = None
    promised: Value | None = None
    settle_s: float | None = None
    reason: str = ""


class GateReport(FileRecord):
    """The verdict on the head. ``model`` names what is gated, whichever head it is.

    ``attempts`` counts how often speed was measured, each time in fresh processes.
    ``promise`` says whether this machine is the one that the baseline's own numbers are from: on another one they are not
    comparable, though what was measured here side by side is. None: there are no such numbers. ``extended``: the budget was
    used up and gone beyond. ``remedies`` are what to do.
    """

    schema_: str = Field(default="autotune/gate/1", alias="schema")
    verdict: Verdict
    model: str = ""
    head: str
    baseline: str
    compared: tuple[Compared, ...]
    machine: Environment | None = None
    promise: Literal["this machine", "another machine"] | None = None
    attempts: int = 0
    spent_s: float = 0.0
    extended: bool = False
    notes: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()

    def exit_code(self, inconclusive: Inconclusive = "exit4") -> ExitCode:
        """0 passed, 1 failed, and for inconclusive what was asked for."""
        return _EXIT_OF_DOUBT[inconclusive] if self.verdict == "inconclusive" else _EXIT[self.verdict]

    @property
    def sentence(self) -> str:
        """The verdict, and which metrics made it."""
        standing = {"failed": "worse", "inconclusive": "undecided", "passed": None}[self.verdict]
        names = ", ".join(entry.metric for entry in self.compared if entry.standing == standing)
        return f"{self.verdict}: {names}" if names else self.verdict


def overall(compared: Sequence[Compared]) -> Verdict:
    """Failed as soon as one metric is worse; passed when every judged one is within and at least one was judged."""
    standings = {entry.standing for entry in compared}
    if "worse" in standings:
        return "failed"
    return "passed" if "undecided" not in standings and standings & {"within", "accepted"} else "inconclusive"

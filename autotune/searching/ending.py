"""Why a search ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from autotune.core.units import counted

__all__ = ["Ending", "Reason"]

Reason = Literal["budget", "exhausted", "patience", "trials", "stopped"]

_WORDS: dict[Reason, str] = {
    "budget": "the budget is used up",
    "exhausted": "every candidate of the space was tried",
    "patience": "the latest trials changed nothing on the front",
    "trials": "the number of trials was reached",
    "stopped": "it was stopped; what was found is kept",
}


@dataclass(frozen=True)
class Ending:
    """``trials``: how many ended, those of earlier processes included. ``signal``: what stopped it, else None."""

    reason: Reason
    trials: int
    signal: int | None = None

    def __str__(self) -> str:
        return f"the search ended after {counted(self.trials, 'trial')}: {_WORDS[self.reason]}"

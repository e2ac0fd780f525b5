"""The search: what to try next, when to stop, and what the front is. Light to import: optuna comes with its sampler."""

from __future__ import annotations

from autotune.searching.budget import Budget
from autotune.searching.ending import Ending
from autotune.searching.finish import finish
from autotune.searching.front import front_of, refuse_nothing_feasible
from autotune.searching.loop import search
from autotune.searching.objectives import usable_objectives
from autotune.searching.plans import Plans
from autotune.searching.roles import Journal, Stop

__all__ = [
    "Budget",
    "Ending",
    "Journal",
    "Plans",
    "Stop",
    "finish",
    "front_of",
    "refuse_nothing_feasible",
    "search",
    "usable_objectives",
]

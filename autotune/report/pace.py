"""How much of a search is left."""

from __future__ import annotations

from autotune.core.units import format_duration
from autotune.core.watching import Watched

__all__ = ["left", "used"]


def left(search: Watched, spent_s: float, done: int) -> str:
    """``"1 min 05 s of 2 min 00 s left"``, and the trials (``done`` so far) where they are bounded; empty when nothing is."""
    parts = []
    if search.budget_s is not None:
        rest_s = max(0.0, search.budget_s - spent_s)
        parts.append(f"{format_duration(rest_s)} of {format_duration(search.budget_s)} left")
    if search.max_trials is not None:
        parts.append(f"{done} of {search.max_trials} trials{_until_last(search, spent_s, done)}")
    return ", ".join(parts)


def used(search: Watched, spent_s: float, done: int) -> float | None:
    """How much of the budget, or of the trials, is used up, 0 to 1, whichever is further; None when neither is bounded."""
    shares = [spent_s / search.budget_s] if search.budget_s else []
    shares += [done / search.max_trials] if search.max_trials else []
    return min(1.0, max(shares)) if shares else None


def _until_last(search: Watched, spent_s: float, done: int) -> str:
    """How long the other trials would take at the pace so far; nothing where the budget ends before."""
    more = (search.max_trials or 0) - done
    if not done or more <= 0:
        return ""
    more_s = spent_s / done * more
    ends_before = search.budget_s is not None and spent_s + more_s > search.budget_s
    return "" if ends_before else f", about {format_duration(more_s)} more"

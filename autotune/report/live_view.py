"""What the live display shows: a dozen lines, each of them right without colour. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from autotune.core.trial import Trial
from autotune.core.units import counted, format_duration
from autotune.core.watching import Progress, Watched
from autotune.report.pace import left, used
from autotune.report.standing import standing_table, troubles
from autotune.report.trial_line import trial_words

__all__ = ["headline", "live_view"]

_BAR_COLUMNS = 24


def headline(search: Watched) -> str:
    """What is searched, for what, and for how long."""
    budget = f"budget {format_duration(search.budget_s)}" if search.budget_s is not None else "no time limit"
    trials = f", at most {counted(search.max_trials, 'trial')}" if search.max_trials is not None else ""
    objectives = ", ".join(objective.metric for objective in search.objectives)
    return f"search {search.id}: {search.model} for {objectives}; {budget}{trials}"


def live_view(search: Watched, spent_s: float, now: Progress | None, running: Sequence[Trial]) -> RenderableType:
    """The search at this moment. ``now`` None: no trial has ended yet. ``running``: trials under way."""
    lines: list[RenderableType] = [_line(headline(search), "bold"), _pace(search, spent_s, now)]
    for trial in running:
        again = " side by side" if trial.plan.paired else ""
        what = trial_words(trial, search.baseline, several_devices=search.several_devices)
        lines.append(_line(f"now{again}: {trial.id} {what}", "dim"))
    if now is not None:
        table = standing_table(now, search.objectives, search.baseline, several_devices=search.several_devices)
        lines += [table] if table is not None else [_line("the original is not measured yet")]
        lines.append(_line(troubles(now)))
    return Group(*lines)


def _pace(search: Watched, spent_s: float, now: Progress | None) -> RenderableType:
    """A bar, the trials done, and what is left; without a bound there is no bar."""
    done = now.trials if now is not None else 0
    rest = left(search, spent_s, done)
    each = f", {spent_s / done:.1f} s each" if done else ""
    words = f"{counted(done, 'trial')}{each}{f'; {rest}' if rest else ''}"
    share = used(search, spent_s, done)
    if share is None:
        return _line(words)
    grid = Table.grid(padding=(0, 1))
    grid.add_row(ProgressBar(total=1.0, completed=share, width=_BAR_COLUMNS), _line(words))
    return grid


def _line(text: str, style: str = "") -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")

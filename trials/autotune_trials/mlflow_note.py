"""The Markdown that MLflow shows on the search's own run."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["NOTE_LENGTH", "search_note"]

NOTE_LENGTH = 8000
"""A longer tag is refused (``mlflow.utils.validation.MAX_TAG_VAL_LENGTH``); a note is a tag."""

_HOW_TO_PICK = (
    "\n\nTo pick one: tick it in the list of runs, *Rename*, type `*`, *Save*; then `autotune export --picked -o DIR`."
)
_CUT = "\n\n… (the rest is in summary.md)"


def search_note(summary: str, experiment: str, runs: Mapping[str, str], knee: str | None) -> str:
    """The summary, then a link to the run of each point shown. ``runs`` maps points to runs."""
    links = [_link(point, run, experiment, point == knee) for point, run in runs.items()]
    ending = f"\n\n**Runs:** {' · '.join(links)}{_HOW_TO_PICK}" if links else ""
    room = NOTE_LENGTH - len(ending)
    return (summary if len(summary) <= room else _cut(summary, room)) + ending


def _link(point: str, run: str, experiment: str, knee: bool) -> str:
    return f"[{point}](#/experiments/{experiment}/runs/{run})" + (" (knee)" if knee else "")


def _cut(summary: str, room: int) -> str:
    """Whole lines only."""
    kept = summary[: room - len(_CUT)].rpartition("\n")[0]
    return kept + _CUT

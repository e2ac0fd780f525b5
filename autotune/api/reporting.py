"""Writes ``report.html`` into a run folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from autotune.core.errors import UserError
from autotune.core.front import Front
from autotune.report import shown_path
from autotune.runs.folder import RunFolder

__all__ = ["try_report", "write_report"]


def write_report(folder: RunFolder, front: Front) -> Path:
    """Write the report of a finished search; return its path. Raises ``UserError`` when the folder cannot be written."""
    from autotune.report import ReportContent, report_html
    from autotune.runs.atomic import write_atomic
    from autotune.searching.importance import importances

    records = folder.records()
    content = ReportContent(
        search=folder.search,
        front=front,
        records=records,
        run=shown_path(folder.path),
        spent_s=folder.spent_s(),
        importances=importances(records, front.objectives),
    )
    file = folder.layout.report
    try:
        write_atomic(file, report_html(content).encode())
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror}", "copy the run folder, and ask again") from error
    return file


def try_report(folder: RunFolder, front: Front, say: Callable[[str], None]) -> None:
    """Write the report at a search's end. Whatever goes wrong is said in a line: the search and its front are not lost to it."""
    try:
        write_report(folder, front)
    except Exception as error:  # the report is a view: the search is already safe
        why = str(error).strip().partition("\n")[0] or type(error).__name__
        say(f"report.html was not written ({why}); `autotune front {shown_path(folder.path)} --html` tries again")

"""Writes reports: to the files asked for, and to GitHub's step summary when there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from autotune.core.errors import UserError
from autotune.gate.report_junit import report_junit
from autotune.gate.report_markdown import report_markdown
from autotune.gate.verdict import GateReport, Inconclusive

__all__ = ["STEP_SUMMARY", "require_writable", "write_reports"]

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"

_KINDS = (".json", ".md", ".xml")


def require_writable(files: Sequence[Path]) -> None:
    """Refuse, before anything is measured, a report that could not be written. Raises ``UserError``."""
    for file in files:
        if file.suffix not in _KINDS:
            raise UserError(f"--report {file}: unknown kind of report", f"end the name with one of {', '.join(_KINDS)}")
        if file.is_dir() or not file.absolute().parent.is_dir():
            what = "is a folder" if file.is_dir() else "its folder does not exist"
            raise UserError(f"--report {file}: {what}", "give a file in an existing folder")


def write_reports(
    report: GateReport, files: Sequence[Path], variables: Mapping[str, str], inconclusive: Inconclusive = "exit4"
) -> None:
    """Write each file by its extension, and append to the file that ``GITHUB_STEP_SUMMARY`` names in ``variables``.

    Raises ``UserError`` when a file cannot be written; a summary that cannot is the CI system's own affair, and left out.
    """
    texts: Mapping[str, Callable[[], str]] = {
        ".json": lambda: report.to_json(indent=1) + "\n",
        ".md": lambda: report_markdown(report),
        ".xml": lambda: report_junit(report, inconclusive),
    }
    for file in files:
        try:
            file.write_text(texts[file.suffix](), encoding="utf-8")
        except OSError as error:
            raise UserError(f"--report {file} cannot be written: {error.strerror}", "give another file") from error
    if summary := variables.get(STEP_SUMMARY):
        _append(Path(summary), report_markdown(report))


def _append(file: Path, text: str) -> None:
    try:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(f"{text}\n")
    except OSError:
        return

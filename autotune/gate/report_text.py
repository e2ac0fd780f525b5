"""The report for a terminal or a log: plain text, aligned."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.gate.figures import machine_text, row, summary_line
from autotune.gate.verdict import GateReport

__all__ = ["report_text"]


def report_text(report: GateReport) -> str:
    """The verdict first, then a line a metric, then what to know and what to do."""
    lines = [report.sentence, f"  {summary_line(report)}"]
    if machine := machine_text(report):
        lines.append(f"  {machine}")
    lines += [f"  {line}" for line in _table([row(entry) for entry in report.compared])]
    lines += [f"  {entry.metric}: {entry.reason}" for entry in report.compared if entry.reason]
    lines += [f"  {note}" for note in report.notes]
    return "\n".join([*lines, *(f"  next: {remedy}" for remedy in report.remedies)])


def _table(rows: Sequence[tuple[str, str, str, str, str, str]]) -> list[str]:
    cells = [
        (
            metric,
            mark,
            f"{baseline} → {head}" if baseline and head else "",
            change,
            f"tolerance {bound}" if bound else "",
        )
        for metric, mark, baseline, head, change, bound in rows
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(5)] if cells else []
    padded = ("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) for line in cells)
    return [line.rstrip() for line in padded]

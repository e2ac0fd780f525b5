"""The report in Markdown: a pull request's comment, or GitHub's step summary."""

from __future__ import annotations

from autotune.gate.figures import machine_text, row, summary_line
from autotune.gate.verdict import GateReport

__all__ = ["report_markdown"]

_SIGNS = {"passed": "✅", "failed": "❌", "inconclusive": "❔"}


def report_markdown(report: GateReport) -> str:
    """A heading with the verdict, a table, then what to know and what to do. Ends with a newline."""
    lines = [
        f"### {_SIGNS[report.verdict]} autotune gate {_escape(report.sentence)}",
        "",
        _escape(summary_line(report)),
        "",
    ]
    lines += [
        "| metric | verdict | baseline | head | change (95 %) | tolerance |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [f"| {' | '.join(_escape(cell) for cell in row(entry))} |" for entry in report.compared]
    said = [f"{entry.metric}: {entry.reason}" for entry in report.compared if entry.reason]
    remarks = [*said, *report.notes, *(f"next: {remedy}" for remedy in report.remedies)]
    if machine := machine_text(report):
        remarks.append(f"measured on {machine}")
    lines += ["", *(f"- {_escape(remark)}" for remark in remarks)] if remarks else []
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    """Text that stays text: in a table's cell, and where a runtime's words hold Markdown or HTML."""
    for sign in ("\\", "|", "*", "_", "`", "<", "[", "]"):
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())

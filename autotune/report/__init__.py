"""What a person reads: the answer, the front, the progress of a search, the space before one."""

from __future__ import annotations

from autotune.report.answer import answer_sentence, recommended
from autotune.report.front_table import front_table, print_front
from autotune.report.front_text import dropped_lines, front_json, front_markdown, miss_lines
from autotune.report.going_on import print_going_on
from autotune.report.html import ReportContent, report_html
from autotune.report.plot import FrontPlot, front_plot, plot_front
from autotune.report.progress import LiveProgress, PlainProgress, progress
from autotune.report.shown_path import shown_path
from autotune.report.space_text import space_text

__all__ = [
    "FrontPlot",
    "LiveProgress",
    "PlainProgress",
    "ReportContent",
    "answer_sentence",
    "dropped_lines",
    "front_json",
    "front_markdown",
    "front_plot",
    "front_table",
    "miss_lines",
    "plot_front",
    "print_front",
    "print_going_on",
    "progress",
    "recommended",
    "report_html",
    "shown_path",
    "space_text",
]

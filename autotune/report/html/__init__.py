"""``report.html``: one file that opens offline and tells all of a search."""

from __future__ import annotations

from autotune.report.html.content import ReportContent
from autotune.report.html.page import report_html

__all__ = ["ReportContent", "report_html"]

"""Reports: JSON, Markdown, JUnit XML, plain text, and GitHub's step summary."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest

from autotune.core.errors import UserError
from autotune.gate.report_junit import report_junit
from autotune.gate.report_markdown import report_markdown
from autotune.gate.report_text import report_text
from autotune.gate.reports import STEP_SUMMARY, require_writable, write_reports
from autotune.gate.verdict import Compared, GateReport


@pytest.fixture
def failed(gates: SimpleNamespace) -> GateReport:
    report: GateReport = gates.run(gates.Model(base_s=6e-3))
    return report


def test_json_reads_back(failed: GateReport) -> None:
    assert GateReport.model_validate_json(failed.to_json()) == failed
    assert '"schema":"autotune/gate/1"' in failed.to_json()


def test_text_begins_with_the_verdict_and_ends_with_what_to_do(failed: GateReport) -> None:
    lines = report_text(failed).splitlines()
    assert lines[0] == "failed: latency_p50"
    assert "--accept" in lines[-1]
    line = next(line for line in lines if line.strip().startswith("latency_p50 "))
    assert "worse" in line
    assert "tolerance 5 %" in line
    assert " to +" in line, "the interval"


def test_markdown_is_one_table_and_stays_text(failed: GateReport) -> None:
    odd = Compared(metric="outputs", standing="worse", reason="a | b <script> `x` _y_\nz")
    text = report_markdown(failed.model_copy(update={"compared": (*failed.compared, odd)}))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(failed.compared) + 1
    assert "<script" not in text.replace("\\<script", "")
    assert text.startswith("### ❌")


def test_junit_counts_failures_and_skips(failed: GateReport) -> None:
    suite = ET.fromstring(report_junit(failed)).find("testsuite")
    assert suite is not None
    cases = {case.get("name"): case for case in suite.findall("testcase")}
    failure = cases["latency_p50"].find("failure")
    assert failure is not None
    assert "+" in (failure.get("message") or "")
    assert suite.get("failures") == "1"
    assert int(suite.get("tests") or 0) == len(failed.compared)


def test_junit_holds_whatever_a_runtime_says(failed: GateReport) -> None:
    odd = Compared(metric="outputs", standing="worse", reason="\x00\x1b[31m <&> \ud800")
    assert ET.fromstring(report_junit(failed.model_copy(update={"compared": (odd,)}))) is not None


def test_doubt_is_a_failure_in_junit_only_when_it_fails_the_gate() -> None:
    entry = Compared(metric="latency_p50", standing="undecided")
    report = GateReport(verdict="inconclusive", head="a.onnx", baseline="b", compared=(entry,))
    assert 'failures="0"' in report_junit(report)
    assert 'failures="1"' in report_junit(report, "fail")


def test_files_are_written_by_their_extension_and_the_summary_is_appended_to(
    failed: GateReport, tmp_path: Path
) -> None:
    files = [tmp_path / f"report.{kind}" for kind in ("json", "md", "xml")]
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    write_reports(failed, files, {STEP_SUMMARY: str(summary)})
    assert all(file.stat().st_size for file in files)
    assert summary.read_text() == f"before\n{files[1].read_text()}\n"


def test_reports_that_cannot_be_written_are_refused_first(tmp_path: Path) -> None:
    for file in (tmp_path / "report.html", tmp_path / "none" / "report.md"):
        with pytest.raises(UserError, match="--report"):
            require_writable([file])


def test_a_change_of_nothing_has_no_sign() -> None:
    from autotune.core.values import Value
    from autotune.gate.figures import shown_loss

    loss = Value(value=-0.0, unit="1", low=-0.00001, high=0.012)
    assert shown_loss(Compared(metric="accuracy", standing="within", loss=loss)) == "0 (-0.0120 to 0)"

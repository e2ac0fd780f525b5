"""The report as JUnit XML, which CI systems show as tests: one test case a metric."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree as ET

from autotune.gate.figures import machine_text, row
from autotune.gate.verdict import Compared, GateReport, Inconclusive

__all__ = ["report_junit"]

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2


def report_junit(report: GateReport, inconclusive: Inconclusive = "exit4") -> str:
    """``worse`` is a failure; ``undecided`` is one when inconclusive fails, else skipped, as is what was only reported."""
    doubt_fails = inconclusive == "fail"
    counts = [_kind(entry, doubt_fails=doubt_fails) for entry in report.compared]
    attributes = {
        "name": "autotune gate",
        "tests": str(len(counts)),
        "failures": str(counts.count("failure")),
        "skipped": str(counts.count("skipped")),
        "errors": "0",
        "time": f"{report.spent_s:.3f}",
    }
    suites = ET.Element("testsuites")
    suite = ET.SubElement(suites, "testsuite", attributes)
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("verdict", report.verdict),
        ("machine", machine_text(report)),
        ("promise", report.promise or ""),
    ):
        ET.SubElement(properties, "property", {"name": name, "value": _legal(value)})
    for entry, kind in zip(report.compared, counts, strict=True):
        _case(suite, report, entry, kind)
    ET.SubElement(suite, "system-out").text = _legal("\n".join((*report.notes, *report.remedies)))
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _kind(entry: Compared, *, doubt_fails: bool) -> str:
    if entry.standing == "worse" or (entry.standing == "undecided" and doubt_fails):
        return "failure"
    return "passed" if entry.standing in ("within", "accepted") else "skipped"


def _case(suite: ET.Element, report: GateReport, entry: Compared, kind: str) -> None:
    case = ET.SubElement(suite, "testcase", {"classname": f"autotune.gate.{_stem(report)}", "name": entry.metric})
    _, mark, baseline, head, change, bound = row(entry)
    parts = (mark, f"{baseline} to {head}" if baseline and head else "", change, f"tolerance {bound}" if bound else "")
    message = _legal("; ".join(part for part in (*parts, entry.reason) if part))
    add: Callable[..., ET.Element] = ET.SubElement
    if kind == "passed":
        add(case, "system-out").text = message
    else:
        add(case, kind, {"message": message})


def _stem(report: GateReport) -> str:
    return _legal(report.head.replace("\\", "/").rstrip("/").rpartition("/")[2].replace(".", "_"))


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text)

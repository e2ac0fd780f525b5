"""Losses and standings as people read them: what the terminal, Markdown and JUnit share."""

from __future__ import annotations

from autotune.core.figures import format_value
from autotune.core.metrics import find_metric
from autotune.core.units import format_duration
from autotune.core.values import Value
from autotune.gate.tolerances import HYPERVOLUME
from autotune.gate.verdict import Compared, GateReport

__all__ = ["MARKS", "machine_text", "row", "shown_loss", "shown_tolerance", "shown_value", "summary_line"]

MARKS = {
    "worse": "✗ worse",
    "within": "✓ within",
    "undecided": "? undecided",
    "accepted": "✓ accepted",
    "reported": "· reported",
    "not compared": "· not compared",
}


def shown_loss(entry: Compared) -> str:
    """``"+10.2 % (9.1 to 11.4)"``: what the metric changed by, as it would be read in its own direction; empty when unknown.

    A throughput that fell by a tenth is shown as -10 %: the change, not the loss.
    """
    loss = entry.loss
    if loss is None or loss.value is None:
        return ""
    sign = -1.0 if _falls(entry.metric) else 1.0
    text = _change(entry.metric, sign * loss.value)
    if loss.low is None or loss.high is None or loss.low == loss.high:
        return text
    low, high = sorted(sign * end for end in (loss.low, loss.high))
    return f"{text} ({_number(entry.metric, low)} to {_number(entry.metric, high)})"


def shown_tolerance(entry: Compared) -> str:
    """``"5 %"``, or ``"5 % beyond 12 % accepted"``; empty when there is none."""
    if entry.tolerance is None:
        return ""
    text = _plain(entry.metric, entry.tolerance)
    if entry.allowed is not None and entry.allowed > entry.tolerance * (1 + 1e-9):
        return f"{text}, {_plain(entry.metric, entry.allowed)} with what was accepted"
    return text


def shown_value(metric: str, value: Value | None) -> str:
    """A side's number with its unit; empty when there is none."""
    if value is None:
        return ""
    return f"{value.value:.4g}" if metric == HYPERVOLUME and value.value is not None else format_value(metric, value)


def row(entry: Compared) -> tuple[str, str, str, str, str, str]:
    """Metric, verdict, baseline, head, change with its interval, tolerance."""
    both = (shown_value(entry.metric, side) for side in (entry.baseline, entry.head))
    baseline, head = both
    return (entry.metric, MARKS[entry.standing], baseline, head, shown_loss(entry), shown_tolerance(entry))


def summary_line(report: GateReport) -> str:
    """How the verdict was reached."""
    attempts = (
        "" if not report.attempts else f", {report.attempts} measurement{'s' * (report.attempts > 1)} side by side"
    )
    extended = ", beyond the first budget" if report.extended else ""
    return f"{report.head} against {report.baseline}: {format_duration(report.spent_s)}{attempts}{extended}"


def machine_text(report: GateReport) -> str:
    """The machine it ran on; empty when nothing was measured."""
    here = report.machine
    if here is None:
        return ""
    versions = ", ".join(f"{name} {version}" for name, version in here.versions.items())
    return f"{here.cpu_model or 'unknown CPU'}, {here.cpus} CPUs, {here.os}{f', {versions}' if versions else ''}"


def _falls(metric: str) -> bool:
    return metric == HYPERVOLUME or find_metric(metric).goal == "max"


def _relative(metric: str) -> bool:
    return metric == HYPERVOLUME or find_metric(metric).relative


def _change(metric: str, change: float) -> str:
    return f"{_number(metric, change)} %" if _relative(metric) else _number(metric, change)


def _number(metric: str, change: float) -> str:
    text = f"{change * 100:+.1f}" if _relative(metric) else f"{change:+.4f}"
    return text if text.strip("+-0.") else "0"


def _plain(metric: str, number: float) -> str:
    return f"{number * 100:.3g} %" if _relative(metric) else f"{number:g}"

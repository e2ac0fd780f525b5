"""Keeps gates in the tracker, for trends: only when a tracking URI was given, and never in the way of the verdict."""

from __future__ import annotations

from autotune.core.metrics import find_metric
from autotune.gate.report_markdown import report_markdown
from autotune.gate.tolerances import HYPERVOLUME
from autotune.gate.verdict import Compared, GateReport

__all__ = ["history_numbers", "keep_gate"]


def keep_gate(report: GateReport, uri: str) -> str:
    """Log it; return the run's id there. Raises ``UserError`` when the tracker is missing or away."""
    from autotune import plugins

    tags = {"autotune.head": report.head, "autotune.baseline": report.baseline}
    tags |= {"autotune.cpu": report.machine.cpu_model} if report.machine is not None else {}
    log = plugins.tracker_factory("mlflow").log_gate
    return str(log(uri, report.model, report.verdict, history_numbers(report), tags, report_markdown(report)))


def history_numbers(report: GateReport) -> dict[str, float]:
    """Each metric's loss with its interval (``latency_p50_loss``), and the head's number in the unit that people read."""
    numbers: dict[str, float] = {}
    for entry in report.compared:
        numbers |= _losses(entry)
        if entry.head is not None and entry.head.value is not None and entry.metric != HYPERVOLUME:
            metric = find_metric(entry.metric)
            numbers[metric.shown_name] = entry.head.value * metric.shown_factor
    return numbers


def _losses(entry: Compared) -> dict[str, float]:
    loss = entry.loss
    if loss is None:
        return {}
    named = {"loss": loss.value, "loss_low": loss.low, "loss_high": loss.high}
    return {f"{entry.metric}_{name}": number for name, number in named.items() if number is not None}

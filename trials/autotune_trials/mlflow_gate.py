"""A gate's outcome in MLflow: one run a gate, so that its history can be plotted and searched for change points."""

from __future__ import annotations

import time
from collections.abc import Mapping

from autotune.core.errors import UserError
from autotune_trials.mlflow_names import safe_name
from autotune_trials.mlflow_note import NOTE_LENGTH

__all__ = ["GATE", "GATE_PREFIX", "log_gate"]

GATE_PREFIX = "autotune-gate/"
"""Experiments of their own: a gate is no trial of a search."""

GATE = "autotune.gate"


def log_gate(
    uri: str | None, model: str, verdict: str, metrics: Mapping[str, float], tags: Mapping[str, str], report: str
) -> str:
    """Log a gate of ``model`` into its experiment; return the run's id. ``report`` is Markdown.

    ``uri`` None: MLFLOW_TRACKING_URI, else MLflow's default. Raises ``UserError`` when MLflow is missing or away.
    """
    try:
        from autotune_trials.mlflow_store import Store, StoreError
    except ImportError as error:
        raise UserError(f"mlflow cannot be imported: {error}", "pip install mlflow") from error
    try:
        store, now_ms = Store(uri), int(time.time() * 1000)
        experiment = store.experiment(f"{GATE_PREFIX}{model}")
        told = {**tags, GATE: verdict, "mlflow.note.content": _note(report)}
        run_id = store.start(experiment, verdict, now_ms, {name: text[:NOTE_LENGTH] for name, text in told.items()})
        store.log(run_id, now_ms, {safe_name(name): number for name, number in metrics.items()})
        store.attach(run_id, report, "gate.md")
        store.end(run_id, "FINISHED")
    except StoreError as error:
        raise UserError(f"MLflow: {error}", "check --tracking-uri or MLFLOW_TRACKING_URI") from error
    return run_id


def _note(report: str) -> str:
    """The report, or as much of it as a tag takes: the whole is the run's ``gate.md``."""
    if len(report) <= NOTE_LENGTH:
        return report
    rest = "\n\n… the rest is in gate.md"
    return report[: NOTE_LENGTH - len(rest)] + rest

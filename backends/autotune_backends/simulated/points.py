"""A table of served points, predicted: what ``autotune simulate --points`` writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autotune.core.errors import UserError, nearest
from autotune_backends.simulated.devices import device_named
from autotune_backends.simulated.refusals import Infeasible
from autotune_backends.simulated.screen import ClosedLoop, closed_loop
from autotune_backends.simulated.step_costs import StepCosts, step_costs
from autotune_backends.simulated.transformers import model_named

__all__ = ["NEEDED", "PREDICTED", "ServedPoint", "missing_columns", "predict_points"]

NEEDED = ("system", "model", "precision", "tp", "concurrency", "isl", "osl")
_ENDS = ("", "_low", "_high")
PREDICTED = (
    *(f"{name}{end}" for name in ("ttft_s", "tpot_s", "output_throughput_per_gpu") for end in _ENDS),
    *("provenance", "basis", "error_ttft", "error_tpot", "reason"),
)
_TTFT_DOUBT = 2.0  # times the doubt of a step: the first token's wait depends on how the client starts


@dataclass(frozen=True, slots=True)
class ServedPoint:
    """A row: a closed loop of ``users`` against one replica."""

    device: str
    model: str
    candidate: dict[str, str | int]
    users: int
    input_tokens: int
    output_tokens: int


def predict_points(rows: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Each row with ``PREDICTED`` columns added; ``error_…`` is predicted over measured less 1, empty where not measured.

    Raises ``UserError`` with the number of a row that cannot be read (the first after the head is 2, as editors count).
    """
    return [_predicted(number, row) for number, row in enumerate(rows, start=2)]


def _predicted(number: int, row: Mapping[str, str]) -> dict[str, str]:
    point = _read(number, row)
    added = dict.fromkeys(PREDICTED, "")
    try:
        model, device = model_named(point.model), device_named(point.device)
        costs = step_costs(model, device, point.candidate)
        found = closed_loop(costs, point.users, point.input_tokens, point.output_tokens, max_num_seqs=point.users)
    except Infeasible as refusal:
        return {**row, **added, "reason": refusal.problem}
    except ValueError as refusal:
        return {**row, **added, "reason": str(refusal)}
    except UserError as error:
        raise UserError(f"row {number}: {error.problem}", error.remedy) from error
    return {**row, **added, **_columns(costs, found), **_errors(number, row, found)}


def _read(number: int, row: Mapping[str, str]) -> ServedPoint:
    missing = [name for name in NEEDED if not (row.get(name) or "").strip()]
    if missing:
        raise UserError(f"row {number}: {', '.join(missing)} is empty", f"each row needs {', '.join(NEEDED)}")
    precision = row["precision"].strip()
    candidate: dict[str, str | int] = {
        "precision": "bf16" if precision in ("unstated", "bfloat16") else precision,
        "tp": _count(number, row, "tp"),
        "pp": _count(number, row, "pp") if (row.get("pp") or "").strip() else 1,
    }
    if (row.get("backend") or "").strip():
        candidate["engine"] = row["backend"].strip()
    return ServedPoint(
        row["system"].strip(),
        row["model"].strip(),
        candidate,
        *(_count(number, row, name) for name in ("concurrency", "isl", "osl")),
    )


def _count(number: int, row: Mapping[str, str], name: str) -> int:
    text = row[name].strip()
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value < 1e9 or value != int(value):
        raise UserError(f"row {number}: {name} is {text!r}", f"{name} is a whole number from 1")
    return int(value)


def _columns(costs: StepCosts, found: ClosedLoop) -> dict[str, str]:
    doubt = costs.interval
    values = {
        "ttft_s": (found.ttft_s, _TTFT_DOUBT * doubt),
        "tpot_s": (found.tpot_s, doubt),
        "output_throughput_per_gpu": (found.output_throughput / costs.devices, doubt),
    }
    ends = {
        f"{name}{end}": f"{value * factor:.6g}"
        for name, (value, wide) in values.items()
        for end, factor in zip(_ENDS, (1.0, 1.0 / (1.0 + wide), 1.0 + wide), strict=True)
    }
    return {**ends, "provenance": "simulated", "basis": costs.basis}


def _errors(number: int, row: Mapping[str, str], found: ClosedLoop) -> dict[str, str]:
    return {
        "error_ttft": _error(number, row, "ttft_ms_measured", found.ttft_s),
        "error_tpot": _error(number, row, "tpot_ms_measured", found.tpot_s),
    }


def _error(number: int, row: Mapping[str, str], name: str, seconds: float) -> str:
    text = (row.get(name) or "").strip()
    if not text:
        return ""
    try:
        measured = float(text)
    except ValueError:
        measured = 0.0
    if not 0 < measured < float("inf"):
        raise UserError(f"row {number}: {name} is {text!r}", f"{name} is in milliseconds, greater than 0, or empty")
    return f"{seconds * 1e3 / measured - 1:.4f}"


def missing_columns(columns: Iterable[str]) -> str:
    """What a table lacks, with the nearest of its own columns; empty when it lacks nothing."""
    have = list(columns)
    return ", ".join(f"{name}{nearest(name, have)}" for name in NEEDED if name not in have)

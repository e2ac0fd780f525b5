"""A served point: a row of a table that a person has, read and priced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autotune.core.errors import UserError
from autotune_backends.simulated.devices import SimulatedDevice, device_named, folded
from autotune_backends.simulated.screen import ClosedLoop, closed_loop
from autotune_backends.simulated.step_costs import StepCosts, step_costs
from autotune_backends.simulated.transformers import TransformerModel, model_named

__all__ = ["NEEDED", "ServedPoint", "measured", "read_point"]

NEEDED = ("system", "model", "precision", "tp", "concurrency", "isl", "osl")


@dataclass(frozen=True, slots=True)
class ServedPoint:
    """A row: a closed loop of ``users`` against one replica."""

    device: SimulatedDevice
    model: TransformerModel
    candidate: dict[str, str | int]
    users: int
    input_tokens: int
    output_tokens: int

    def costs(self, device: SimulatedDevice | None = None) -> StepCosts:
        """Of its steps, on its own device or another. Raises ``Infeasible``."""
        return step_costs(self.model, device or self.device, self.candidate)

    def loop(self, costs: StepCosts) -> ClosedLoop:
        """Its steady state. Raises ``ValueError`` when not one request fits."""
        return closed_loop(costs, self.users, self.input_tokens, self.output_tokens, max_num_seqs=self.users)


def read_point(number: int, row: Mapping[str, str], own: SimulatedDevice | None = None) -> ServedPoint:
    """Read row ``number`` of a table; ``own`` is the device that its name stands for, before any of the catalogue.

    Raises ``UserError`` that names the row.
    """
    missing = [name for name in NEEDED if not (row.get(name) or "").strip()]
    if missing:
        raise UserError(f"row {number}: {', '.join(missing)} is empty", f"each row needs {', '.join(NEEDED)}")
    try:
        model, device = model_named(row["model"].strip()), _device(row["system"].strip(), own)
    except UserError as error:
        raise UserError(f"row {number}: {error.problem}", error.remedy) from error
    return ServedPoint(
        device,
        model,
        _candidate(number, row),
        *(_count(number, row, name) for name in ("concurrency", "isl", "osl")),
    )


def _device(name: str, own: SimulatedDevice | None) -> SimulatedDevice:
    return own if own is not None and folded(name) == folded(own.name) else device_named(name)


def measured(number: int, row: Mapping[str, str], name: str) -> float | None:
    """A measured column, None when it is empty or absent. Raises ``UserError`` for what is no positive number."""
    text = (row.get(name) or "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise UserError(f"row {number}: {name} is {text!r}", f"{name} is a number greater than 0, or empty")
    return value


def _candidate(number: int, row: Mapping[str, str]) -> dict[str, str | int]:
    precision = row["precision"].strip()
    candidate: dict[str, str | int] = {
        "precision": "bf16" if precision in ("unstated", "bfloat16") else precision,
        "tp": _count(number, row, "tp"),
        "pp": _count(number, row, "pp") if (row.get("pp") or "").strip() else 1,
    }
    if (row.get("backend") or "").strip():
        candidate["engine"] = row["backend"].strip()
    return candidate


def _count(number: int, row: Mapping[str, str], name: str) -> int:
    text = row[name].strip()
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value < 1e9 or value != int(value):
        raise UserError(f"row {number}: {name} is {text!r}", f"{name} is a whole number from 1")
    return int(value)

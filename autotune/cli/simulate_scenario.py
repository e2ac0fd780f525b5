"""One scenario, simulated and printed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.core.errors import UserError

if TYPE_CHECKING:
    from autotune.api.simulating import Simulated

__all__ = ["run_scenario"]


def run_scenario(scenario: Path, confidence: float, calibration: Path | None, as_json: bool) -> int:
    """Print one scenario's metrics: each value, its interval and where it is from."""
    from autotune.api.simulating import simulate
    from autotune.cli.output import print_json

    if not 0 < confidence < 1:
        raise UserError(f"--confidence {confidence:g} is no share of cases", "give for example --confidence 0.8")
    found = simulate(scenario, confidence, lambda text: print(text, file=sys.stderr, flush=True), calibration)
    if as_json:
        print_json(json.dumps(_as_data(found)))
    else:
        _print(found, confidence)
    return 0


def _as_data(found: Simulated) -> dict[str, object]:
    asked = found.scenario
    return {
        "schema": "autotune/simulation/1",
        "model": asked.model,
        "device": found.device,
        "calibration": found.calibration,
        "candidate": asked.candidate.model_dump(mode="json"),
        "workload": asked.workload.model_dump(mode="json"),
        "seed": asked.seed,
        "calibrated_on": found.calibrated_on,
        "metrics": {name: value.model_dump(mode="json") for name, value in found.metrics.items()},
        "limits": [{"limit": limit.text, "standing": standing} for limit, standing in found.standings()],
    }


def _as_it_is(graph: bool) -> str:
    return "in fp32, one sample at a time" if graph else "as servers are by default"


def _print(found: Simulated, confidence: float) -> None:
    from rich.table import Table

    from autotune.cli.output import console
    from autotune.core.figures import format_interval, format_number
    from autotune.core.metrics import find_metric
    from autotune.core.units import counted

    asked, out = found.scenario, console()
    measured = f"; calibrated on {counted(found.calibrated_on, 'point')}" if found.calibrated_on else ""
    out.print(f"{asked.model} on {found.device}: {asked.candidate or _as_it_is(asked.graph)}", markup=False)
    out.print(f"load {asked.workload.name}; intervals hold {confidence:.0%} of cases{measured}\n", markup=False)
    if found.calibration is not None:
        out.print(f"{found.calibration}\n", markup=False, style="dim")
    table = Table("metric", "value", "interval", "from", box=None, pad_edge=False)
    for name, value in found.metrics.items():
        metric = find_metric(name)
        shown = "unknown" if value.value is None else format_number(value.value * metric.shown_factor)
        ends = format_interval(value, metric.shown_factor)
        origin = f"{value.provenance}: {value.basis}" if value.basis else value.provenance
        table.add_row(name, f"{shown} {metric.shown_unit}".strip(), ends, origin)
    out.print(table)
    for limit, standing in found.standings():
        out.print(f"{limit.text}: {standing}", markup=False)

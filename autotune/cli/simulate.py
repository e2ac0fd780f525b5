"""``autotune simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def simulate(
    scenario: Annotated[
        Path | None, typer.Argument(help="A YAML file: model, device, candidate, workload, dims.", show_default=False)
    ] = None,
    points: Annotated[
        Path | None, typer.Option("--points", help="A CSV of served points, to be predicted.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where it is written.", show_default=False)
    ] = None,
    confidence: Annotated[float, typer.Option(help="Share of cases that a scenario's intervals hold.")] = 0.8,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Predict how a language model is served, or what a graph takes, on devices that are not here: one scenario, or a table."""
    from autotune.cli.simulate_points import predict
    from autotune.cli.simulate_scenario import run_scenario
    from autotune.core.errors import UserError

    remedy = "write autotune simulate SCENARIO.yaml, or autotune simulate --points IN.csv -o OUT.csv"
    if scenario is not None:
        if points is not None or output is not None:
            raise UserError("a scenario goes with neither --points nor -o", remedy)
        return run_scenario(scenario, confidence, as_json)
    if points is None:
        raise UserError("there is nothing to simulate", remedy)
    if output is None:
        raise UserError("--points needs -o", f"autotune simulate --points {points} -o predicted.csv")
    return predict(points, output, as_json=as_json)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Predict a model on devices that are not here.")(simulate)

"""``autotune simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]

_REMEDY = "write autotune simulate SCENARIO.yaml, or autotune simulate --points IN.csv -o OUT.csv"


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
    calibrate: Annotated[
        Path | None,
        typer.Option("--calibrate", help="A CSV of points that you measured, to correct by.", show_default=False),
    ] = None,
    next_measurement: Annotated[
        Path | None,
        typer.Option(
            "--next-measurement", help="RUN: name what to measure to be surer of its choice.", show_default=False
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Share of cases that a scenario's intervals hold.")] = 0.8,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Predict how a language model is served, or what a graph takes, on devices that are not here: one scenario, or a table."""
    from autotune.cli.simulate_next import say_next_measurement
    from autotune.cli.simulate_points import predict
    from autotune.cli.simulate_scenario import run_scenario
    from autotune.core.errors import UserError

    if next_measurement is not None:
        if any(given is not None for given in (scenario, points, output, calibrate)):
            raise UserError(
                "--next-measurement goes with a run folder alone", "autotune simulate --next-measurement RUN"
            )
        return say_next_measurement(next_measurement, as_json)
    if scenario is not None:
        if points is not None or output is not None:
            raise UserError("a scenario goes with neither --points nor -o", _REMEDY)
        return run_scenario(scenario, confidence, calibrate, as_json)
    if points is None:
        raise UserError("there is nothing to simulate", _REMEDY)
    if output is None:
        raise UserError("--points needs -o", f"autotune simulate --points {points} -o predicted.csv")
    return predict(points, output, calibrate, as_json=as_json)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Predict a model on devices that are not here.")(simulate)

"""The options of ``autotune simulate``, as the command line declares them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["SimulateOptions"]


@dataclass(frozen=True)
class SimulateOptions:
    """What a person typed. None: the option was not given."""

    scenario: Annotated[
        Path | None, typer.Argument(help="A YAML file: model, device, candidate, workload, dims.", show_default=False)
    ] = None
    points: Annotated[
        Path | None, typer.Option("--points", help="A CSV of served points, to be predicted.", show_default=False)
    ] = None
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where it is written.", show_default=False)] = (
        None
    )
    calibrate: Annotated[
        Path | None,
        typer.Option("--calibrate", help="A CSV of points that you measured, to correct by.", show_default=False),
    ] = None
    next_measurement: Annotated[
        Path | None,
        typer.Option(
            "--next-measurement", help="RUN: name what to measure to be surer of its choice.", show_default=False
        ),
    ] = None
    confidence: Annotated[float, typer.Option(help="Share of cases that a scenario's intervals hold.")] = 0.8
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False

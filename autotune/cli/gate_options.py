"""The options of ``autotune gate``, as the command line declares them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["GateOptions"]


@dataclass(frozen=True)
class GateOptions:
    """What a person typed. None: the option was not given."""

    head: Annotated[str, typer.Argument(help="A model, an exported folder, RUN:POINT, or a run folder.")]
    baseline: Annotated[
        str,
        typer.Option(
            help="Exported folder, RUN:POINT, models:/NAME@ALIAS, a URL, or a run folder.", show_default=False
        ),
    ]
    as_is: Annotated[bool, typer.Option("--as-is", help="Take the model as it is, do not build it.")] = False
    data: Annotated[
        str | None,
        typer.Option(help="Inputs, and labels for accuracy. Default: the baseline's samples.", show_default=False),
    ] = None
    tolerance: Annotated[
        list[str] | None, typer.Option(help='How much worse a metric may be: "latency_p50=5%".', show_default=False)
    ] = None
    budget: Annotated[str, typer.Option(help="Time to measure.")] = "60s"
    max_budget: Annotated[str, typer.Option(help="Time to measure at most, when that leaves doubt.")] = "3m"
    inconclusive: Annotated[str, typer.Option(help="What doubt means: exit4, fail or pass.")] = "exit4"
    first_run: Annotated[str, typer.Option(help="What a missing baseline means: fail (exit 2) or pass.")] = "fail"
    accept: Annotated[
        list[str] | None,
        typer.Option(help='Write an intended change into the baseline: "METRIC: reason".', show_default=False),
    ] = None
    report: Annotated[
        list[Path] | None,
        typer.Option(help="Write a report: FILE.json, FILE.md or FILE.xml (JUnit).", show_default=False),
    ] = None
    tracking_uri: Annotated[
        str | None, typer.Option(help="MLflow store or server: of a registered baseline, and to log the gate to.")
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False

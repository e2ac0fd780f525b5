"""``autotune gate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def gate(
    head: Annotated[str, typer.Argument(help="A model, an exported folder, RUN:POINT, or a run folder.")],
    baseline: Annotated[
        str,
        typer.Option(
            help="Exported folder, RUN:POINT, models:/NAME@ALIAS, a URL, or a run folder.", show_default=False
        ),
    ],
    as_is: Annotated[bool, typer.Option("--as-is", help="Take the model as it is, do not build it.")] = False,
    data: Annotated[
        str | None,
        typer.Option(help="Inputs, and labels for accuracy. Default: the baseline's samples.", show_default=False),
    ] = None,
    tolerance: Annotated[
        list[str] | None, typer.Option(help='How much worse a metric may be: "latency_p50=5%".', show_default=False)
    ] = None,
    budget: Annotated[str, typer.Option(help="Time to measure.")] = "60s",
    max_budget: Annotated[str, typer.Option(help="Time to measure at most, when that leaves doubt.")] = "3m",
    inconclusive: Annotated[str, typer.Option(help="What doubt means: exit4, fail or pass.")] = "exit4",
    first_run: Annotated[str, typer.Option(help="What a missing baseline means: fail (exit 2) or pass.")] = "fail",
    accept: Annotated[
        list[str] | None,
        typer.Option(help='Write an intended change into the baseline: "METRIC: reason".', show_default=False),
    ] = None,
    report: Annotated[
        list[Path] | None,
        typer.Option(help="Write a report: FILE.json, FILE.md or FILE.xml (JUnit).", show_default=False),
    ] = None,
    tracking_uri: Annotated[
        str | None, typer.Option(help="MLflow store or server: of a registered baseline, and to log the gate to.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Compare a model with its baseline, side by side on this machine: passed (0), worse (1) or inconclusive (4)."""
    from autotune.cli.gate_command import GateOptions, run_gate

    return run_gate(
        GateOptions(
            head=head,
            baseline=baseline,
            as_is=as_is,
            data=data,
            tolerances=tuple(tolerance or ()),
            budget=budget,
            max_budget=max_budget,
            inconclusive=inconclusive,
            first_run=first_run,
            accept=tuple(accept or ()),
            reports=tuple(report or ()),
            tracking_uri=tracking_uri,
            as_json=as_json,
        )
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Compare a model with its baseline, side by side.")(gate)

"""``autotune export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


def export(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write.", show_default=False)],
    run: Annotated[Path | None, typer.Argument(help="A run folder.", show_default=False)] = None,
    point: Annotated[
        str | None,
        typer.Option(
            help="ID, knee, fastest, frugal, accurate, baseline, or a metric. Default: the answer's.",
            show_default=False,
        ),
    ] = None,
    picked: Annotated[bool, typer.Option("--picked", help="The point picked in MLflow.")] = False,
    run_id: Annotated[str | None, typer.Option(help="The point of this MLflow run.")] = None,
    model: Annotated[str | None, typer.Option(help="A registered model: models:/NAME@ALIAS.")] = None,
    format: Annotated[
        str,
        typer.Option(
            help="ort, triton; of a simulated point: vllm, tensorrt-llm, triton, kubernetes, kserve, ray-serve."
        ),
    ] = "ort",
    no_samples: Annotated[bool, typer.Option("--no-samples", help="Leave sample inputs and outputs out.")] = False,
    no_original: Annotated[bool, typer.Option("--no-original", help="Leave the original model out.")] = False,
    tracking_uri: Annotated[str | None, typer.Option(help="MLflow store or server.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Write a point of a front as a folder that deploys as it is: from a run folder, or from MLflow alone."""
    from autotune.cli.export_command import ExportRequest, run_export

    return run_export(
        ExportRequest(
            output=output,
            run=run,
            point=point,
            picked=picked,
            run_id=run_id,
            model=model,
            format=format,
            samples=not no_samples,
            original=not no_original,
            tracking_uri=tracking_uri,
            as_json=as_json,
        )
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Write a point as a folder that deploys as it is.")(export)

"""The options of ``autotune export``, as the command line declares them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["ExportOptions"]


@dataclass(frozen=True)
class ExportOptions:
    """What a person typed. None: the option was not given."""

    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write.", show_default=False)]
    run: Annotated[Path | None, typer.Argument(help="A run folder.", show_default=False)] = None
    point: Annotated[
        str | None,
        typer.Option(
            help="ID, knee, fastest, frugal, accurate, baseline, or a metric. Default: the answer's.",
            show_default=False,
        ),
    ] = None
    picked: Annotated[bool, typer.Option("--picked", help="The point picked in MLflow.")] = False
    run_id: Annotated[str | None, typer.Option(help="The point of this MLflow run.")] = None
    model: Annotated[str | None, typer.Option(help="A registered model: models:/NAME@ALIAS.")] = None
    format: Annotated[
        str,
        typer.Option(
            help="ort, triton; of a simulated point: vllm, tensorrt-llm, triton, kubernetes, kserve, ray-serve."
        ),
    ] = "ort"
    no_samples: Annotated[bool, typer.Option("--no-samples", help="Leave sample inputs and outputs out.")] = False
    no_original: Annotated[bool, typer.Option("--no-original", help="Leave the original model out.")] = False
    tracking_uri: Annotated[str | None, typer.Option(help="MLflow store or server.")] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False

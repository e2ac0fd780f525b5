"""The options of ``autotune search``, as the command line declares them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["SearchOptions"]

_WHAT = "What is searched"
_HOW = "How it is searched"
_OUT = "What comes out"

_SEVERAL = {"device": "devices", "objective": "objectives", "limit": "limits", "dim": "dims", "backend": "backends"}
"""Options that may be given several times → the settings that hold them all."""

_NO_SETTINGS = ("budget", "resume", "from_", "no_tracking", "dry_run", "as_json", "verbose", "quiet")


@dataclass(frozen=True)
class SearchOptions:
    """What a person typed. None: the option was not given."""

    model: Annotated[
        Path | None,
        typer.Argument(help="An .onnx or .pt2 file; a language model by name or folder.", show_default=False),
    ] = None
    budget: Annotated[
        str | None, typer.Option(help="Time to spend: 90s, 15m, 4h, 1h30m. Default 1h.", rich_help_panel=_HOW)
    ] = None
    trials: Annotated[int | None, typer.Option(min=1, help="Stop after so many trials.", rich_help_panel=_HOW)] = None
    space: Annotated[
        str | None, typer.Option(help="Name of a search space, or a YAML file.", rich_help_panel=_WHAT)
    ] = None
    device: Annotated[
        list[str] | None,
        typer.Option(
            help="Device: of `autotune devices`, this-host, or a YAML file; repeatable.", rich_help_panel=_WHAT
        ),
    ] = None
    workload: Annotated[
        str,
        typer.Option(
            help="default, latency, throughput; chat, code, rag, summarise; or a YAML file.", rich_help_panel=_WHAT
        ),
    ] = "default"
    objective: Annotated[
        list[str] | None, typer.Option(help="Metric to optimise; repeatable.", rich_help_panel=_WHAT)
    ] = None
    goal: Annotated[
        str | None,
        typer.Option(help="latency, throughput, cost or energy: objectives and load in a word.", rich_help_panel=_WHAT),
    ] = None
    limit: Annotated[
        list[str] | None, typer.Option(help='Bound that must hold: "latency_p50<=5ms".', rich_help_panel=_WHAT)
    ] = None
    data: Annotated[
        str | None,
        typer.Option(
            help="Inputs: .npz, a folder of .npy or of images, or module:function.",
            rich_help_panel=_WHAT,
        ),
    ] = None
    preprocess: Annotated[
        str | None,
        typer.Option(help='What is done to images: "resize=256 crop=224 mean=… std=…".', rich_help_panel=_WHAT),
    ] = None
    metric: Annotated[
        str | None,
        typer.Option(
            help="Quality metric for labelled data: top1, top5, f1, mse, cosine, module:function.",
            rich_help_panel=_WHAT,
        ),
    ] = None
    dim: Annotated[
        list[str] | None,
        typer.Option(help="Size of a symbolic dimension: seq=128; seq=64,128 mixes sizes.", rich_help_panel=_WHAT),
    ] = None
    custom_op_lib: Annotated[
        Path | None, typer.Option(help="Shared library with custom operators.", rich_help_panel=_WHAT)
    ] = None
    sampler: Annotated[str, typer.Option(help="auto: experts, then enumeration or TPE.", rich_help_panel=_HOW)] = "auto"
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.", rich_help_panel=_HOW)] = 0
    patience: Annotated[
        float, typer.Option(help="End after this share of trials changed nothing.", rich_help_panel=_HOW)
    ] = 0.2
    recover: Annotated[
        str | None,
        typer.Option(help="Train pruned models again, each so long at most: 5m. Needs PyTorch.", rich_help_panel=_WHAT),
    ] = None
    rate: Annotated[
        str | None,
        typer.Option(help="Requests a second that a fleet serves: 200/s. Simulated only.", rich_help_panel=_WHAT),
    ] = None
    spare: Annotated[int, typer.Option(min=0, help="Replicas beyond those needed.", rich_help_panel=_WHAT)] = 0
    confidence: Annotated[
        float, typer.Option(help="Of simulated intervals; limits hold at their worse end.", rich_help_panel=_WHAT)
    ] = 0.8
    own: Annotated[
        bool, typer.Option("--own", help="Cost of devices that are bought, not rented.", rich_help_panel=_WHAT)
    ] = False
    years: Annotated[
        float | None, typer.Option(help="With --own: written off over so many years. Default 3.", rich_help_panel=_WHAT)
    ] = None
    electricity: Annotated[
        float | None, typer.Option(help="With --own: USD a kWh. Default 0.12.", rich_help_panel=_WHAT)
    ] = None
    pue: Annotated[
        float | None,
        typer.Option(help="With --own: the building's energy over the computers'. Default 1.3.", rich_help_panel=_WHAT),
    ] = None
    calibrate: Annotated[
        Path | None, typer.Option(help="CSV of points measured on simulated devices.", rich_help_panel=_WHAT)
    ] = None
    energy: Annotated[str, typer.Option(help="auto, counter or off.", rich_help_panel=_WHAT)] = "auto"
    power_model: Annotated[Path | None, typer.Option(help="YAML with this CPU's power.", rich_help_panel=_WHAT)] = None
    backend: Annotated[list[str] | None, typer.Option(help="Backend to use; repeatable.", rich_help_panel=_WHAT)] = None
    executor: Annotated[str, typer.Option(help="ray or process.", rich_help_panel=_HOW)] = "ray"
    address: Annotated[str | None, typer.Option(help="Address of a running Ray cluster.", rich_help_panel=_HOW)] = None
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Run folder to write.", rich_help_panel=_OUT)
    ] = None
    tracking_uri: Annotated[str | None, typer.Option(help="MLflow store or server.", rich_help_panel=_OUT)] = None
    no_tracking: Annotated[bool, typer.Option("--no-tracking", help="Do not log to MLflow.", rich_help_panel=_OUT)] = (
        False
    )
    resume: Annotated[
        Path | None, typer.Option(help="Go on with the search in this run folder.", rich_help_panel=_HOW)
    ] = None
    from_: Annotated[
        Path | None, typer.Option("--from", help="Do the search of this search.json again.", rich_help_panel=_HOW)
    ] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the space and stop.", rich_help_panel=_OUT)] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=_OUT)] = False
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Say more.", rich_help_panel=_OUT)] = False
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print the answer only.", rich_help_panel=_OUT)] = False

    def settings(self) -> dict[str, Any]:
        """Those that say what to search and how, by the names of ``SearchSettings``; the budget is still text, and not here."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in _NO_SETTINGS}
        several = {name: tuple(given.pop(option) or ()) for option, name in _SEVERAL.items()}
        library = given.pop("custom_op_lib")
        return {**given, **several, "custom_op_library": library, "tracking": not self.no_tracking}

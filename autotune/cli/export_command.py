"""What ``autotune export`` does: finds the point, wherever it lies, and writes its folder."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.core.errors import UserError, nearest
from autotune.core.picked import PickedRun

if TYPE_CHECKING:
    from autotune.core.front import Front, Point
    from autotune.runs.folder import RunFolder

__all__ = ["ExportRequest", "run_export"]

FORMATS = ("ort", "triton", "vllm", "tensorrt-llm", "kubernetes", "kserve", "ray-serve")
_MEASURED, _SERVING = FORMATS[:2], FORMATS[1:]  # triton: of files, and of language models that were simulated


@dataclass(frozen=True)
class ExportRequest:
    """The command's options, as given."""

    output: Path
    run: Path | None
    point: str | None
    picked: bool
    run_id: str | None
    model: str | None
    format: str
    samples: bool
    original: bool
    tracking_uri: str | None
    as_json: bool


def run_export(request: ExportRequest) -> int:
    """Carry out ``autotune export``; return its exit code."""
    from autotune.cli.output import print_json

    _refuse_confusion(request)
    exported = _exported(request)
    if request.as_json:
        print_json(json.dumps({"schema": "autotune/export/1", "folder": str(request.output), **exported}))
    else:
        print(f"exported {exported['point']} to {request.output}")
        print(f"next: {_next(request, exported)}")
    return 0


def _exported(request: ExportRequest) -> dict[str, str]:
    local = None if request.picked else request.run
    if local is not None and (served := _served(request, local)) is not None:
        return served
    return _as_repository(request) if request.format == "triton" else _as_files(request)


def _as_files(request: ExportRequest) -> dict[str, str]:
    local = None if request.picked else request.run
    return _from_tracker(request) if local is None else _from_run(request, local)


def _as_repository(request: ExportRequest) -> dict[str, str]:
    """Export as files first, and write a model repository from them."""
    from autotune.export.triton import write_triton

    with tempfile.TemporaryDirectory(prefix="autotune-export-") as scratch:
        files = Path(scratch) / "files"
        exported = _as_files(replace(request, output=files, original=False))
        write_triton(files, request.output)
    return exported


def _next(request: ExportRequest, exported: dict[str, str]) -> str:
    if exported.get("provenance") == "estimated":
        return f"read {request.output}/README.md: what it needs, and that nothing of it was measured"
    if request.format == "triton":
        return (
            f"tritonserver --model-repository={request.output}/models  ·  "
            f"autotune verify {request.output} --url http://localhost:8000"
        )
    return f"autotune verify {request.output}  ·  python {request.output}/run.py"


def _refuse_confusion(request: ExportRequest) -> None:
    if request.format not in FORMATS:
        raise UserError(
            f"there is no format {request.format!r}{nearest(request.format, FORMATS)}", f"formats: {', '.join(FORMATS)}"
        )
    sources = [
        name
        for name, given in (("--picked", request.picked), ("--run-id", request.run_id), ("--model", request.model))
        if given
    ]
    if len(sources) > 1 or (request.run is not None and sources not in ([], ["--picked"])):
        raise UserError(
            f"{' and '.join(['RUN'] * (request.run is not None) + sources)} say different things", "give one of them"
        )
    if request.run is None and not sources:
        raise UserError(
            "nothing to export was named", "give a run folder, --picked, --run-id ID or --model models:/NAME@ALIAS"
        )
    if sources and request.point is not None:
        raise UserError(f"--point does not go with {sources[0]}", "leave one of them out")


def _from_run(request: ExportRequest, run: Path) -> dict[str, str]:
    """Export the point that was named, else the one that the answer sentence recommends, else the original."""
    from autotune.api.exporting import Exporter
    from autotune.runs.folder import RunFolder

    folder = RunFolder.open(run)
    front, point = _chosen(request, folder)
    if request.format not in _MEASURED:
        raise UserError(f"--format {request.format} is for simulated language models", "take ort, or triton")
    Exporter(folder, front, samples=request.samples, original=request.original).export(point, request.output)
    return {"point": point.id, "search": front.search}


def _served(request: ExportRequest, run: Path) -> dict[str, str] | None:
    """Write what serves a simulated point, of which there is no artifact. None: the run was measured."""
    from autotune.core.model import LANGUAGE_MODEL
    from autotune.export.serving_formats import serving_files, write_serving
    from autotune.runs.folder import RunFolder

    folder = RunFolder.open(run)
    front, point = _chosen(request, folder)
    if front.kind != "simulated":
        return None
    if folder.search.model.format != LANGUAGE_MODEL:
        raise UserError(
            f"{point.id} is a graph priced on {point.device}: nothing was built that could be exported",
            f"search {folder.search.model.path.name} where such a device is, and export from that run",
        )
    if request.format not in _SERVING:
        raise UserError(
            f"{point.id} is simulated: nothing was built that --format {request.format} could hold",
            f"take --format {', '.join(_SERVING)}",
        )
    write_serving(request.output, serving_files(front, point, folder.search, request.format))
    return {"point": point.id, "search": front.search, "provenance": "estimated"}


def _chosen(request: ExportRequest, folder: RunFolder) -> tuple[Front, Point]:
    from autotune.api.run import read_front
    from autotune.export import choose_point
    from autotune.report import recommended

    front = read_front(folder)
    return front, choose_point(front, request.point) if request.point else recommended(front) or front.baseline


def _from_tracker(request: ExportRequest) -> dict[str, str]:
    from autotune import plugins
    from autotune.export.write import replacing

    reader = plugins.tracker_factory("mlflow").reader(_uri(request))
    if request.model:
        with replacing(request.output) as fresh:
            reader.download_model(request.model, fresh)
        return {"point": request.model}
    run_id = request.run_id
    if run_id is None:
        run_id = _only(reader.picked(_search_id(request.run)), request).run_id
    with replacing(request.output) as fresh:
        reader.download(run_id, fresh)
    return {"point": f"run {run_id}"}


def _uri(request: ExportRequest) -> str | None:
    if request.tracking_uri is None and request.run is not None:
        from autotune.runs.folder import RunFolder

        return RunFolder.open(request.run).search.tracking.uri
    return request.tracking_uri


def _search_id(run: Path | None) -> str | None:
    if run is None:
        return None
    from autotune.runs.folder import RunFolder

    return RunFolder.open(run).search.id


def _only(picked: list[PickedRun], request: ExportRequest) -> PickedRun:
    where = f"the search in {request.run}" if request.run else "any autotune experiment"
    if not picked:
        raise UserError(f"no run of {where} is picked", "rename one to * in MLflow's UI, or: autotune pick RUN ID")
    if len(picked) > 1:
        commands = "; ".join(f"{one.experiment} {one.point}: --run-id {one.run_id}" for one in picked)
        raise UserError(f"{len(picked)} runs of {where} are picked", f"export one of them: {commands}")
    return picked[0]

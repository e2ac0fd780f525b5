"""What ``autotune export`` does: finds the point, wherever it lies, and writes its folder."""

from __future__ import annotations

import json
import shlex
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.cli.export_options import ExportOptions
from autotune.core.errors import UserError, nearest
from autotune.core.picked import PickedRun
from autotune.replay.folder import STANDALONE

if TYPE_CHECKING:
    from autotune.core.front import Front, Point
    from autotune.runs.folder import RunFolder

__all__ = ["run_export"]

FORMATS = ("ort", "triton", "vllm", "tensorrt-llm", "kubernetes", "kserve", "ray-serve")
_MEASURED, _SERVING = FORMATS[:2], FORMATS[1:]  # triton: of files, and of language models that were simulated


def run_export(options: ExportOptions) -> int:
    """Carry out ``autotune export``; return its exit code."""
    from autotune.cli.output import print_json

    _refuse_confusion(options)
    exported = _exported(options)
    if options.as_json:
        print_json(json.dumps({"schema": "autotune/export/1", "folder": str(options.output), **exported}))
    else:
        print(f"exported {exported['point']} to {options.output}")
        print(f"next: {_next(options, exported)}")
    return 0


def _exported(options: ExportOptions) -> dict[str, str]:
    local = None if options.picked else options.run
    if local is not None and (served := _served(options, local)) is not None:
        return served
    return _as_repository(options) if options.format == "triton" else _as_files(options)


def _as_files(options: ExportOptions) -> dict[str, str]:
    local = None if options.picked else options.run
    return _from_tracker(options) if local is None else _from_run(options, local)


def _as_repository(options: ExportOptions) -> dict[str, str]:
    """Export as files first, and write a model repository from them."""
    from autotune.export.triton import write_triton

    with tempfile.TemporaryDirectory(prefix="autotune-export-") as scratch:
        files = Path(scratch) / "files"
        exported = _as_files(replace(options, output=files, no_original=True))
        write_triton(files, options.output)
    return exported


def _next(options: ExportOptions, exported: dict[str, str]) -> str:
    folder = shlex.quote(str(options.output))
    if exported.get("provenance") == "estimated":
        return f"read {folder}/README.md: what it needs, and that nothing of it was measured"
    if options.format == "triton":
        return (
            f"tritonserver --model-repository={folder}/models  ·  autotune verify {folder} --url http://localhost:8000"
        )
    if exported.get("runtime", STANDALONE[0]) not in STANDALONE:
        return f"open it with the runtime {exported['runtime']}: its run.py cannot, and neither can autotune verify"
    return f"autotune verify {folder}  ·  python {folder}/run.py"


def _refuse_confusion(options: ExportOptions) -> None:
    if options.format not in FORMATS:
        raise UserError(
            f"there is no format {options.format!r}{nearest(options.format, FORMATS)}", f"formats: {', '.join(FORMATS)}"
        )
    sources = [
        name
        for name, given in (("--picked", options.picked), ("--run-id", options.run_id), ("--model", options.model))
        if given
    ]
    if len(sources) > 1 or (options.run is not None and sources not in ([], ["--picked"])):
        raise UserError(
            f"{' and '.join(['RUN'] * (options.run is not None) + sources)} say different things", "give one of them"
        )
    if options.run is None and not sources:
        raise UserError(
            "nothing to export was named", "give a run folder, --picked, --run-id ID or --model models:/NAME@ALIAS"
        )
    if sources and options.point is not None:
        raise UserError(f"--point does not go with {sources[0]}", "leave one of them out")


def _from_run(options: ExportOptions, run: Path) -> dict[str, str]:
    """Export the point that was named, else the one that the answer sentence recommends, else the original."""
    from autotune.api.exporting import Exporter
    from autotune.runs.folder import RunFolder

    folder = RunFolder.open(run)
    front, point = _chosen(options, folder)
    if options.format not in _MEASURED:
        raise UserError(f"--format {options.format} is for simulated language models", "take ort, or triton")
    Exporter(folder, front, samples=not options.no_samples, original=not options.no_original).export(
        point, options.output
    )
    runtime = str(point.candidate.get("runtime", STANDALONE[0]))
    return {"point": point.id, "search": front.search, "runtime": runtime}


def _served(options: ExportOptions, run: Path) -> dict[str, str] | None:
    """Write what serves a simulated point, of which there is no artifact. None: the run was measured."""
    from autotune.core.model import LANGUAGE_MODEL
    from autotune.export.serving_formats import serving_files, write_serving
    from autotune.runs.folder import RunFolder

    folder = RunFolder.open(run)
    front, point = _chosen(options, folder)
    if front.kind != "simulated":
        return None
    if folder.search.model.format != LANGUAGE_MODEL:
        raise UserError(
            f"{point.id} is a graph priced on {point.device}: nothing was built that could be exported",
            f"search {folder.search.model.path.name} where such a device is, and export from that run",
        )
    if options.format not in _SERVING:
        raise UserError(
            f"{point.id} is simulated: nothing was built that --format {options.format} could hold",
            f"take --format {', '.join(_SERVING)}",
        )
    write_serving(options.output, serving_files(front, point, folder.search, options.format))
    return {"point": point.id, "search": front.search, "provenance": "estimated"}


def _chosen(options: ExportOptions, folder: RunFolder) -> tuple[Front, Point]:
    from autotune.api.run import read_front
    from autotune.export import choose_point
    from autotune.report import recommended

    front = read_front(folder)
    return front, choose_point(front, options.point) if options.point is not None else recommended(
        front
    ) or front.baseline


def _from_tracker(options: ExportOptions) -> dict[str, str]:
    from autotune import plugins
    from autotune.export.write import replacing

    reader = plugins.tracker_factory("mlflow").reader(_uri(options))
    if options.model:
        with replacing(options.output) as fresh:
            reader.download_model(options.model, fresh)
        return {"point": options.model}
    run_id = options.run_id
    if run_id is None:
        run_id = _only(reader.picked(_search_id(options.run)), options).run_id
    with replacing(options.output) as fresh:
        reader.download(run_id, fresh)
    return {"point": f"run {run_id}"}


def _uri(options: ExportOptions) -> str | None:
    if options.tracking_uri is None and options.run is not None:
        from autotune.runs.folder import RunFolder

        return RunFolder.open(options.run).search.tracking.uri
    return options.tracking_uri


def _search_id(run: Path | None) -> str | None:
    if run is None:
        return None
    from autotune.runs.folder import RunFolder

    return RunFolder.open(run).search.id


def _only(picked: list[PickedRun], options: ExportOptions) -> PickedRun:
    where = f"the search in {options.run}" if options.run else "any autotune experiment"
    if not picked:
        raise UserError(f"no run of {where} is picked", "rename one to * in MLflow's UI, or: autotune pick RUN ID")
    if len(picked) > 1:
        commands = "; ".join(f"{one.experiment} {one.point}: --run-id {one.run_id}" for one in picked)
        raise UserError(f"{len(picked)} runs of {where} are picked", f"export one of them: {commands}")
    return picked[0]

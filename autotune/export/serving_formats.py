"""Writes a simulated point for whoever serves it: the format's files, and what the simulation promises of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from autotune.core.errors import UserError
from autotune.core.front import Front, Point
from autotune.core.serving_promise import PROMISE, ServingPromise
from autotune.export.kubernetes import kserve_files, kubernetes_files
from autotune.export.ray_serve import ray_serve_files
from autotune.export.served import ServedModel, served_model
from autotune.export.tensorrt_llm import tensorrt_llm_files
from autotune.export.triton_vllm import triton_vllm_files
from autotune.export.vllm import vllm_files
from autotune.runs.search_file import SearchFile

__all__ = ["SERVING_FORMATS", "serving_files", "write_serving"]

SERVING_FORMATS: Mapping[str, Callable[[ServedModel], dict[str, str]]] = {
    "vllm": vllm_files,
    "kubernetes": kubernetes_files,
    "kserve": kserve_files,
    "ray-serve": ray_serve_files,
    "tensorrt-llm": tensorrt_llm_files,
    "triton": triton_vllm_files,
}
_WITH_REPLICAS = ("kubernetes", "kserve", "ray-serve")  # the others describe one server
_COMMENTED = (".yaml", ".pbtxt")


def serving_files(front: Front, point: Point, search: SearchFile, format: str) -> dict[str, str]:
    """Every file of the folder by its name. What was simulated is ``estimated`` of a server that nobody has run yet."""
    device = search.context.device(point.device)
    served = served_model(point, device, search.facts.stem)
    promise = ServingPromise(
        format=format,
        model=search.facts.stem,
        source={"search": front.search, "point": point.id, "model_sha256": search.model.sha256},
        device=device.name,
        devices_per_replica=served.devices,
        replicas=served.replicas,
        candidate=point.candidate,
        workload=front.workload,
        metrics={name: value.model_copy(update={"provenance": "estimated"}) for name, value in point.metrics.items()},
        objectives=tuple(objective.metric for objective in front.objectives),
        simulation=search.context.simulation,
    )
    told = f"# Point {point.id} of the search {front.search}, simulated: what is expected of it is estimated (promise.json).\n"
    files = {
        name: told + text if name.endswith(_COMMENTED) else text
        for name, text in SERVING_FORMATS[format](served).items()
    }
    return files | {PROMISE: promise.to_json(indent=2) + "\n", "README.md": _readme(served, format)}


def write_serving(folder: Path, files: Mapping[str, str]) -> None:
    """Write them into an empty or new folder. Raises ``UserError`` when there is anything else in it."""
    ours = {name.partition("/")[0] for name in files}
    foreign = {entry.name for entry in folder.iterdir()} - ours if folder.is_dir() else set[str]()
    if foreign or folder.is_file():
        raise UserError(f"{folder} is not empty", "choose an empty or a new folder with -o")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}", "choose another folder with -o") from error


def _readme(served: ServedModel, format: str) -> str:
    return f"""# {served.model} on {served.replicas} × {served.devices} {served.device}, for {format}

Chosen by simulation: nothing of this has been measured, and `promise.json` says `estimated` of every number.

Where the files say `{served.model}`, put the path or the Hugging Face id of {served.checkpoint}.
{_copies(served, format)}"""


def _copies(served: ServedModel, format: str) -> str:
    if served.replicas == 1 or format in _WITH_REPLICAS:
        return ""
    return f"\nThis is one of {served.replicas} equal servers, among which requests are to be shared out.\n"

"""A scenario that a person wrote as YAML: one model, on one device, configured so, under one load."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from autotune.core.candidate import Candidate
from autotune.core.errors import UserError, nearest
from autotune.core.frozen import Frozen
from autotune.core.limits import Limit, parse_limit
from autotune.core.workload import BUILT_IN, Workload
from autotune.searching.workload_file import read_workload_file, workload_of
from autotune.searching.yaml_text import mapping_of, named, only_keys, read_mapping

__all__ = ["ServingScenario", "parse_scenario", "read_scenario_file"]

_KEYS = ("model", "device", "candidate", "workload", "limits", "seed", "dims")
_EXAMPLE = "write model: llama-3.1-8b, device: a100-sxm, workload: {base: chat, rate: 6.5/s}"


class ServingScenario(Frozen):
    """``model`` and ``device`` as the simulating backend knows them; ``limits`` are what a request must hold for goodput.

    ``dims``: sizes of an ONNX graph's symbolic dimensions; ``graph`` says that the model is one.
    """

    model: str
    device: str
    candidate: Candidate
    workload: Workload
    limits: tuple[Limit, ...] = ()
    seed: int = 0
    dims: dict[str, int] = Field(default_factory=dict)

    @property
    def graph(self) -> bool:
        """Whether the model is an ONNX graph, not a language model."""
        return self.model.lower().endswith(".onnx")


def read_scenario_file(path: Path) -> ServingScenario:
    """Read the scenario in the YAML file ``path``. Raises ``UserError``."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}", f"give a YAML file: {_EXAMPLE}") from error
    return parse_scenario(text, str(path))


def parse_scenario(text: str, source: str) -> ServingScenario:
    """Read a scenario; ``source`` names it in messages, and files are looked for beside it. Raises ``UserError``."""
    data = read_mapping(text, source)
    only_keys(data, _KEYS, source)
    if str(data.get("model", "")).lower().endswith(".onnx"):
        data = {"workload": "default", **data}
    for key in ("model", "device", "workload"):
        if not data.get(key):
            raise UserError(f"{source} names no {key}", _EXAMPLE)
    workload = _workload(data["workload"], source)
    device, devices = _device(data["device"], source)
    limits = data.get("limits", list(workload.serving.limits if workload.serving else ()))
    return ServingScenario(
        model=_beside(str(data["model"]), source),
        device=_beside(device, source),
        candidate=_candidate(data.get("candidate") or {}, devices, source),
        workload=workload,
        limits=_limits(limits, f"{source}: limits"),
        seed=_seed(data.get("seed", 0), source),
        dims=_dims(data.get("dims") or {}, source),
    )


def _limits(data: object, where: str) -> tuple[Limit, ...]:
    with named(where):
        return tuple(parse_limit(str(limit)) for limit in (data if isinstance(data, list) else [data]))


def _workload(data: object, source: str) -> Workload:
    folder = Path(source).parent
    if isinstance(data, Mapping):
        return workload_of(mapping_of(data, f"{source}: workload"), f"{source}: workload", folder)
    name = str(data)
    if name in BUILT_IN:
        return BUILT_IN[name]
    if not Path(name).suffix:
        raise UserError(
            f"{source}: there is no workload {name!r}{nearest(name, BUILT_IN)}", f"known: {', '.join(BUILT_IN)}"
        )
    return read_workload_file(folder / name)


def _device(data: object, source: str) -> tuple[str, int | None]:
    """The device's name, and how many of them where that is said."""
    groups = data if isinstance(data, list) else [data]
    if len(groups) != 1:
        raise UserError(f"{source}: several groups of devices are not simulated together yet", "name one device")
    if not isinstance(groups[0], Mapping):
        return str(groups[0]), None
    fields = mapping_of(groups[0], f"{source}: device")
    only_keys(fields, ("device", "count", "role"), f"{source}: device")
    count = fields.get("count", 1)
    if not fields.get("device") or not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise UserError(f"{source}: {dict(fields)} is no group of devices", "write {device: h100-sxm, count: 8}")
    if fields.get("role", "both") != "both":
        raise UserError(f"{source}: one group alone has the role 'both'", "leave role out")
    return str(fields["device"]), count


def _candidate(data: object, devices: int | None, source: str) -> Candidate:
    fields: dict[str, Any] = dict(mapping_of(data, f"{source}: candidate"))
    for name, value in fields.items():
        if not isinstance(value, bool | int | float | str):
            raise UserError(f"{source}: candidate: {name} has no single value", "write NAME: VALUE")
    if devices is None:
        return Candidate(fields)
    used = fields.setdefault("tp", devices // int(fields.get("pp", 1))) * int(fields.get("pp", 1))
    if used != devices:
        raise UserError(f"{source}: the candidate uses {used} devices of {devices}", "make tp times pp the count")
    return Candidate(fields)


def _beside(name: str, source: str) -> str:
    """A file or folder is looked for beside the scenario; any other name is the backend's to know."""
    found = Path(source).parent / name
    return str(found) if found.exists() else name


def _dims(data: object, source: str) -> dict[str, int]:
    sizes = dict(mapping_of(data, f"{source}: dims"))
    for name, size in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise UserError(f"{source}: dims: {name}: {size} is no size", "write NAME: 128")
    return sizes


def _seed(value: object, source: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UserError(f"{source}: seed {value} is no whole number", "write 0 or more")
    return value

"""A scenario that a person wrote as YAML: one model, on one device, configured so, under one load."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from autotune.core.candidate import Candidate, Scalar
from autotune.core.errors import UserError, nearest
from autotune.core.frozen import Frozen
from autotune.core.limits import Limit, parse_limit
from autotune.core.workload import BUILT_IN, Workload
from autotune.searching.workload_file import read_workload_file, workload_of
from autotune.searching.yaml_text import mapping_of, named, only_keys, read_mapping

__all__ = ["ServingScenario", "parse_scenario", "read_scenario_file"]

_KEYS = ("model", "device", "interconnect", "candidate", "workload", "limits", "seed", "dims")
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
    device, devices, roles = _devices(data["device"], data.get("interconnect"), source)
    limits = data.get("limits", list(workload.serving.limits if workload.serving else ()))
    return ServingScenario(
        model=_beside(str(data["model"]), source),
        device=_beside(device, source),
        candidate=_candidate(data.get("candidate") or {}, devices, roles, source),
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


def _devices(data: object, interconnect: object, source: str) -> tuple[str, int | None, Candidate]:
    """The device's name, how many of them where that is said, and what a second group that decodes adds to the candidate."""
    groups = [_group(one, source) for one in (data if isinstance(data, list) else [data])]
    if len(groups) == 1 and groups[0][2] == "both":
        if interconnect is not None:
            raise UserError(f"{source}: an interconnect joins groups of devices, and there is one", "leave it out")
        return groups[0][0], groups[0][1], Candidate()
    by_role = {role: (name, count) for name, count, role in groups}
    if sorted(role for _, _, role in groups) != ["decode", "prefill"]:
        raise UserError(
            f"{source}: one group has the role 'both', or one of two 'prefill' and the other 'decode'",
            "write [{device: h100-sxm, count: 2, role: prefill}, {device: a100-sxm, count: 4, role: decode}]",
        )
    name, count = by_role["decode"]
    decoding: dict[str, Scalar] = {"decode_device": _beside(name, source), "decode_tp": count or 1, "decode_pp": 1}
    return *by_role["prefill"], Candidate(decoding | _interconnect(interconnect, source))


def _group(data: object, source: str) -> tuple[str, int | None, str]:
    if not isinstance(data, Mapping):
        return str(data), None, "both"
    fields = mapping_of(data, f"{source}: device")
    only_keys(fields, ("device", "count", "role"), f"{source}: device")
    count = fields.get("count", 1)
    if not fields.get("device") or not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise UserError(f"{source}: {dict(fields)} is no group of devices", "write {device: h100-sxm, count: 8}")
    return str(fields["device"]), count, str(fields.get("role", "both"))


def _interconnect(data: object, source: str) -> dict[str, Scalar]:
    """Between the groups: ``bandwidth`` in B/s of all links together, ``latency`` in seconds."""
    if data is None:
        return {}
    fields = mapping_of(data, f"{source}: interconnect")
    only_keys(fields, ("bandwidth", "latency"), f"{source}: interconnect")
    names = {"bandwidth": "transfer_bandwidth", "latency": "transfer_latency_s"}
    try:
        return {names[name]: float(str(value)) for name, value in fields.items()}
    except ValueError as error:
        raise UserError(
            f"{source}: interconnect {dict(fields)} is no number",
            "write {bandwidth: 50e9, latency: 1e-3}: B/s and seconds",
        ) from error


def _candidate(data: object, devices: int | None, roles: Candidate, source: str) -> Candidate:
    fields: dict[str, Any] = dict(mapping_of(data, f"{source}: candidate"))
    for name, value in fields.items():
        if not isinstance(value, bool | int | float | str):
            raise UserError(f"{source}: candidate: {name} has no single value", "write NAME: VALUE")
    fields = {**roles, **fields}
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

"""A workload that a person wrote as YAML."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autotune.core.errors import UserError, nearest
from autotune.core.workload import BUILT_IN, Phase, Scenario, Shape, Workload
from autotune.searching.token_phase import is_token_phase, token_phase
from autotune.searching.workload_load import read_load
from autotune.searching.yaml_text import mapping_of, only_keys, read_mapping

__all__ = ["parse_workload", "read_workload_file", "workload_of"]

_PHASE_KEYS = (
    "scenario",
    "streams",
    "rate",
    "trace",
    "duration",
    "limits",
    "priorities",
    "queue_limit",
    "shapes",
)
_SHAPES = "write shapes: [{dims: {seq: 128}, weight: 0.7}, {dims: {seq: 512}, weight: 0.3}]"
_MEASURED: tuple[Scenario, ...] = ("single_stream", "multi_stream", "offline", "server")


def read_workload_file(path: Path) -> Workload:
    """Read the workload in the YAML file ``path``. Raises ``UserError``."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path} cannot be read: {error}", "give a YAML file, or the name of a built-in workload"
        ) from error
    return parse_workload(text, str(path))


def parse_workload(text: str, source: str) -> Workload:
    """Read a workload from YAML; ``source`` names it in messages, and is its name when it gives none. Raises ``UserError``."""
    return workload_of(read_mapping(text, source), source, Path(source).parent)


def workload_of(data: Mapping[str, Any], source: str, folder: Path) -> Workload:
    """Read a workload from a mapping: its phases, or one phase of a language model, which may begin with a built-in's
    (``base: chat``). A trace is looked for in ``folder``. Raises ``UserError``.
    """
    if "base" in data or is_token_phase(data):
        return _one_phase(data, source, folder)
    only_keys(data, ("name", "phases"), source)
    phases = data.get("phases")
    if not isinstance(phases, list) or not phases:
        raise UserError(f"{source} has no phases", "write phases: [{scenario: single_stream}, {scenario: offline}]")
    read = tuple(_phase(phase, f"{source}: phase {number}", folder) for number, phase in enumerate(phases, start=1))
    scenarios = [phase.scenario for phase in read]
    if len(set(scenarios)) < len(scenarios):
        raise UserError(f"{source}: a scenario occurs twice", "each scenario's metrics have one name: write it once")
    if {"multi_stream", "server"} <= set(scenarios):
        raise UserError(f"{source}: multi_stream and server measure the same metrics", "write a workload for each")
    return Workload(name=str(data.get("name", Path(source).stem)), phases=read)


def _one_phase(data: Mapping[str, Any], source: str, folder: Path) -> Workload:
    base = data.get("base")
    known = [name for name, workload in BUILT_IN.items() if workload.serving is not None]
    if base is not None and base not in known:
        raise UserError(
            f"{source}: no workload {base!r} to begin with{nearest(str(base), known)}", f"known: {', '.join(known)}"
        )
    fields = {key: value for key, value in data.items() if key not in ("base", "name")}
    phase = token_phase(fields, source, folder, BUILT_IN[base].serving if base is not None else None)
    return Workload(name=str(data.get("name", base or Path(source).stem)), phases=(phase,))


def _phase(data: object, where: str, folder: Path) -> Phase:
    fields = mapping_of(data, where)
    if is_token_phase(fields):
        return token_phase(fields, where, folder)
    only_keys(fields, _PHASE_KEYS, where)
    scenario = _scenario(fields.get("scenario"), where)
    load = read_load(fields, scenario, where, folder)
    return Phase(scenario=scenario, shapes=_shapes(fields["shapes"], where) if "shapes" in fields else (), **load)


def _shapes(data: object, where: str) -> tuple[Shape, ...]:
    if not isinstance(data, list) or not data:
        raise UserError(f"{where}: shapes lists nothing", _SHAPES)
    shapes = tuple(_shape(one, f"{where}: shape {number}") for number, one in enumerate(data, start=1))
    if len({tuple(sorted(shape.dims.items())) for shape in shapes}) < len(shapes):
        raise UserError(f"{where}: a shape occurs twice", "write it once, with both weights added")
    return shapes


def _shape(data: object, where: str) -> Shape:
    fields = mapping_of(data, where)
    only_keys(fields, ("dims", "weight"), where)
    dims, weight = mapping_of(fields.get("dims"), f"{where}: dims"), fields.get("weight", 1.0)
    for name, size in dims.items():
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise UserError(f"{where}: {name}={size} is no size", "give a whole number of 0 or more")
    if not dims:
        raise UserError(f"{where} names no dimension", _SHAPES)
    if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 < weight < math.inf:
        raise UserError(f"{where}: weight {weight} is no share", "give a number above 0, for example 0.7")
    return Shape(dims=dict(dims), weight=float(weight))


def _scenario(name: object, where: str) -> Scenario:
    for scenario in _MEASURED:
        if name == scenario:
            return scenario
    close = nearest(str(name), _MEASURED)
    raise UserError(f"{where}: there is no scenario {name!r}{close}", f"measured: {', '.join(_MEASURED)}")

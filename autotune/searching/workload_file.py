"""A workload that a person wrote as YAML."""

from __future__ import annotations

from pathlib import Path

from autotune.core.errors import UserError, nearest
from autotune.core.workload import Phase, Scenario, Workload
from autotune.searching.yaml_text import mapping_of, only_keys, read_mapping

__all__ = ["parse_workload", "read_workload_file"]

_PHASE_KEYS = ("scenario", "streams", "rate", "duration", "limits", "shapes")
# A key that would be read and then ignored is refused, with what to do instead.
_REFUSED: dict[str, tuple[str, str]] = {
    "streams": ("means nothing to {scenario}", "leave it out"),
    "rate": ("means nothing to {scenario}", "leave it out"),
    "limits": ("are not read from a phase yet", 'give them with --limit "METRIC<=VALUE"'),
    "duration": ("is not fixed: a phase lasts until its numbers are precise, within the budget", "leave it out"),
    "shapes": ("are not mixed yet", "give one size with --dim NAME=SIZE"),
}
_MEASURED: tuple[Scenario, ...] = ("single_stream", "offline")
_NOT_YET: tuple[Scenario, ...] = ("multi_stream", "server")


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
    data = read_mapping(text, source)
    only_keys(data, ("name", "phases"), source)
    phases = data.get("phases")
    if not isinstance(phases, list) or not phases:
        raise UserError(f"{source} has no phases", "write phases: [{scenario: single_stream}, {scenario: offline}]")
    read = tuple(_phase(phase, f"{source}: phase {number}") for number, phase in enumerate(phases, start=1))
    scenarios = [phase.scenario for phase in read]
    if len(set(scenarios)) < len(scenarios):
        raise UserError(f"{source}: a scenario occurs twice", "each scenario's metrics have one name: write it once")
    return Workload(name=str(data.get("name", Path(source).stem)), phases=read)


def _phase(data: object, where: str) -> Phase:
    fields = mapping_of(data, where)
    only_keys(fields, _PHASE_KEYS, where)
    scenario = _scenario(fields.get("scenario"), where)
    for key in fields:
        if key in _REFUSED:
            why, remedy = _REFUSED[key]
            raise UserError(f"{where}: {key} {why.format(scenario=scenario)}", remedy)
    return Phase(scenario=scenario)


def _scenario(name: object, where: str) -> Scenario:
    if name in _NOT_YET:
        raise UserError(f"{where}: scenario {name} is not measured yet", f"measured: {', '.join(_MEASURED)}")
    for scenario in _MEASURED:
        if name == scenario:
            return scenario
    close = nearest(str(name), (*_MEASURED, *_NOT_YET))
    raise UserError(f"{where}: there is no scenario {name!r}{close}", f"measured: {', '.join(_MEASURED)}")

"""Power models of CPUs: a small catalogue with sources, or the user's own file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autotune.core.errors import UserError, nearest
from autotune.core.power import PowerModel, Watts
from autotune.core.strict_yaml import load_yaml

__all__ = ["find_power_model"]

_CATALOGUE = Path(__file__).with_name("power_models.yaml")
_LOWER, _UPPER = 0.5, 1.5  # how far a server may be from the mean of its architecture: see the catalogue's head
_FIELDS = ("name", "idle_w", "busy_w", "source")


def find_power_model(cpu_model: str, isa: Sequence[str], file: Path | None = None) -> PowerModel | None:
    """Return the model in ``file``, or else the catalogue's for this CPU; None when it is not in there.

    ``isa``: the CPU's flags, which tell more than a name that a hypervisor has masked. Raises ``UserError`` when the file
    cannot be read or is no power model.
    """
    if file is not None:
        return _read(file)
    catalogue = _load(_CATALOGUE)
    for entry in catalogue["entries"]:
        if _fits(entry, cpu_model, set(isa)):
            return PowerModel(
                name=entry["name"],
                idle_w=_uncertain(entry["idle"]),
                busy_w=_uncertain(entry["busy"]),
                source=catalogue["source"],
            )
    return None


def _fits(entry: Mapping[str, Any], cpu_model: str, isa: set[str]) -> bool:
    flags, without = set(entry.get("flags", ())), set(entry.get("without", ()))
    return bool(re.search(entry["model"], cpu_model, re.IGNORECASE)) and flags <= isa and not without & isa


def _uncertain(figure: float | Sequence[float]) -> Watts:
    """A catalogue figure, or the range of several architectures', with the catalogue's own uncertainty around it."""
    least, most = (figure, figure) if isinstance(figure, int | float) else (min(figure), max(figure))
    return Watts(typical=(least + most) / 2, low=least * _LOWER, high=most * _UPPER)


def _read(file: Path) -> PowerModel:
    try:
        data = _load(file)
    except OSError as error:
        raise UserError(f"--power-model {file}: {error.strerror}", "name a YAML file with idle_w and busy_w") from error
    if not isinstance(data, dict):
        raise UserError(f"--power-model {file}: no mapping", f"write {', '.join(_FIELDS)}")
    for name in data:
        if name not in _FIELDS:
            raise UserError(f"--power-model {file}: unknown key {name!r}{nearest(str(name), _FIELDS)}", "remove it")
    idle, busy = _watts(file, data, "idle_w"), _watts(file, data, "busy_w")
    if busy.typical < idle.typical:
        raise UserError(f"--power-model {file}: busy_w is less than idle_w", "both are watts of one logical CPU")
    name, source = str(data.get("name", file.stem)), str(data.get("source", f"the user's {file.name}"))
    return PowerModel(name=name, idle_w=idle, busy_w=busy, source=source)


def _watts(file: Path, data: Mapping[str, Any], field: str) -> Watts:
    given = data.get(field)
    numbers = given if isinstance(given, list) else [given]
    if len(numbers) not in (1, 2) or not all(_is_power(number) for number in numbers):
        raise UserError(
            f"--power-model {file}: {field} is {given!r}", "write watts per logical CPU: 3.5, or [2.5, 4.5]"
        )
    low, high = float(min(numbers)), float(max(numbers))
    return Watts(typical=(low + high) / 2, low=low, high=high)


def _is_power(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and number >= 0


def _load(file: Path) -> Any:
    import yaml

    try:
        return load_yaml(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{file} is not YAML: {str(error).splitlines()[0]}", "see the README for its form") from error

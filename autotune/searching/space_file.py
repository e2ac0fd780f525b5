"""A user's YAML that narrows or extends a space, by data alone: nothing in it is evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from autotune.core.candidate import Scalar
from autotune.core.errors import UserError, nearest
from autotune.core.space import Omission, Parameter, SearchSpace
from autotune.searching.narrowing import fixed, narrowed
from autotune.searching.yaml_text import mapping_of, only_keys, read_mapping

__all__ = ["base_of", "narrow"]

_KEYS = ("name", "base", "set", "drop", "add")
_ADD_KEYS = ("choices", "low", "high", "step", "log", "requires", "affects", "doc")


def base_of(text: str, source: str) -> str | None:
    """Return the space that the file narrows; None when it does not say. Raises ``UserError``."""
    base = _read(text, source).get("base")
    return None if base is None else str(base)


def narrow(space: SearchSpace, text: str, source: str) -> SearchSpace:
    """Return ``space`` as the YAML ``text`` wants it; ``source`` names the file in messages.

    ``set`` leaves a parameter the given values, all of which must be legal here. ``drop`` fixes it at the baseline's value
    (its first, where the baseline has none). ``add`` makes a parameter from data; a backend that does not know it refuses
    the candidates that have it when they are built. The baseline is measured even where the narrowed space excludes it, and
    an omission says so; experts that are no longer in the space are left out.
    Raises ``UserError``.
    """
    data = _read(text, source)
    dropped = _drop_names(data.get("drop"), space, source)
    settings = mapping_of(data.get("set") or {}, f"{source}: set")
    _refuse_unknown(settings, space, f"{source}: set")
    parameters = [_changed(parameter, settings, dropped, space, f"{source}: set") for parameter in space.parameters]
    parameters += _added(mapping_of(data.get("add") or {}, f"{source}: add"), space, source)
    return _with(space, str(data.get("name", space.name)), tuple(parameters))


def _read(text: str, source: str) -> Mapping[str, Any]:
    data = read_mapping(text, source)
    only_keys(data, _KEYS, source)
    for key in ("name", "base"):
        if not isinstance(data.get(key, ""), str):
            raise UserError(f"{source}: {key} is no name: {data[key]!r}", f"write {key}: NAME, see `autotune spaces`")
    return data


def _drop_names(wanted: object, space: SearchSpace, source: str) -> frozenset[str]:
    names = [wanted] if isinstance(wanted, str) else wanted or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{source}: drop is no list of parameters: {wanted!r}", "write drop: [NAME, NAME]")
    _refuse_unknown(dict.fromkeys(names), space, f"{source}: drop")
    return frozenset(names)


def _refuse_unknown(names: Mapping[str, Any], space: SearchSpace, where: str) -> None:
    known = [parameter.name for parameter in space.parameters]
    for name in names:
        if name not in known:
            left_out = next((omission.reason for omission in space.omissions if omission.parameter == name), None)
            why = f" here: {left_out}" if left_out else nearest(name, known)
            raise UserError(f"{where}: there is no parameter {name!r}{why}", f"parameters: {', '.join(known)}")


def _changed(
    parameter: Parameter, settings: Mapping[str, Any], dropped: frozenset[str], space: SearchSpace, where: str
) -> Parameter:
    if parameter.name in dropped:
        value: Scalar | None = space.baseline.get(parameter.name)
        first = parameter.values() or (parameter.low or 0.0,)
        return fixed(parameter, [first[0] if value is None else value])
    if parameter.name in settings:
        return narrowed(parameter, settings[parameter.name], space.omissions, where)
    return parameter


def _added(wanted: Mapping[str, Any], space: SearchSpace, source: str) -> list[Parameter]:
    added: list[Parameter] = []
    for name, content in wanted.items():
        where = f"{source}: add: {name}"
        if space.parameter(name) is not None:
            raise UserError(f"{where} is in the space already", "narrow it under set instead")
        fields = mapping_of(content, where)
        only_keys(fields, _ADD_KEYS, where)
        so_far = space.model_copy(update={"parameters": (*space.parameters, *added)})
        _refuse_unknown(mapping_of(fields.get("requires") or {}, f"{where}: requires"), so_far, f"{where}: requires")
        added.append(_made(name, fields, where))
    return added


def _made(name: str, fields: Mapping[str, Any], where: str) -> Parameter:
    try:
        return Parameter.model_validate({"name": name, **fields})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UserError(
            f"{where}: {field}{': ' if field else ''}{first['msg'].removeprefix('Value error, ')}",
            "give either choices, or low and high",
        ) from error


def _with(space: SearchSpace, name: str, parameters: tuple[Parameter, ...]) -> SearchSpace:
    changed = space.model_copy(update={"name": name, "parameters": parameters})
    experts = tuple(expert for expert in space.experts if changed.fault(expert) is None)
    fault = changed.fault(space.baseline)
    kept = Omission(parameter="baseline", reason=f"not in the narrowed space ({fault}), but measured all the same")
    omissions = space.omissions if fault is None else (*space.omissions, kept)
    return changed.model_copy(update={"experts": experts, "omissions": omissions})

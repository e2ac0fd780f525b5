"""Narrowing one parameter of a space to what a person asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotune.core.candidate import Scalar
from autotune.core.errors import UserError
from autotune.core.space import Omission, Parameter
from autotune.searching.yaml_text import mapping_of, only_keys

__all__ = ["fixed", "narrowed"]


def narrowed(parameter: Parameter, wanted: object, omissions: Sequence[Omission], where: str) -> Parameter:
    """Return ``parameter`` with its values narrowed to ``wanted``: a value, a list of them, or ``{low, high, step, log}``.

    Raises ``UserError`` for a value that is not legal here, with the legal ones, or the reason why it was left out.
    """
    if isinstance(wanted, dict):
        return _within(parameter, wanted, where)
    values = wanted if isinstance(wanted, list) else [wanted]
    if not values:
        raise UserError(f"{where}: {parameter.name} is left without a value", f"legal here: {_legal(parameter)}")
    counts = [value for value in values if type(value) is int and value > 0]
    if parameter.share is not None and len(counts) == len(values):
        return _shared(parameter, counts)
    return fixed(parameter, [_held(parameter, value, omissions, where) for value in values])


def fixed(parameter: Parameter, values: Sequence[Scalar]) -> Parameter:
    """Return ``parameter`` with these values alone."""
    changes = {"choices": tuple(dict.fromkeys(values)), "low": None, "high": None, "step": None, "log": False}
    return parameter.model_copy(update=changes)


def _shared(parameter: Parameter, values: Sequence[int]) -> Parameter:
    """Any number may be asked for; one that is more than all there is lifts the bound, since it was asked for."""
    assert parameter.share is not None
    beyond = max(values) > parameter.share.total
    return fixed(parameter, values).model_copy(update={"share": None} if beyond else {})


def _held(parameter: Parameter, value: Any, omissions: Sequence[Omission], where: str) -> Scalar:
    if isinstance(value, bool | int | float | str):
        if parameter.holds(value):
            return value
        if type(value) is int and parameter.holds(float(value)):
            return float(value)
    reason = _reason(parameter.name, value, omissions)
    raise UserError(f"{where}: {parameter.name} cannot be {value!r} here{reason}", f"legal here: {_legal(parameter)}")


def _reason(name: str, value: object, omissions: Sequence[Omission]) -> str:
    for omission in omissions:
        if omission.parameter == name and (not omission.values or value in omission.values):
            return f": {omission.reason}"
    return ""


def _within(parameter: Parameter, wanted: object, where: str) -> Parameter:
    name = f"{where}: {parameter.name}"
    ends = mapping_of(wanted, name)
    only_keys(ends, ("low", "high", "step", "log"), name)
    for key in ("low", "high", "step"):
        if not _number(ends.get(key, 0)):
            raise UserError(f"{name}: {key} is no number: {ends[key]!r}", f"legal here: {_legal(parameter)}")
    if parameter.choices:
        return _choices_within(parameter, ends.get("low"), ends.get("high"), name)
    assert parameter.low is not None
    assert parameter.high is not None
    low, high = ends.get("low", parameter.low), ends.get("high", parameter.high)
    if not parameter.low <= low <= high <= parameter.high:
        raise UserError(f"{name}: {low}..{high} is not within the space", f"legal here: {_legal(parameter)}")
    changes = {
        "low": low,
        "high": high,
        "step": ends.get("step", parameter.step),
        "log": ends.get("log", parameter.log),
    }
    return parameter.model_copy(update=changes)


def _choices_within(parameter: Parameter, low: float | None, high: float | None, name: str) -> Parameter:
    kept = [
        choice
        for choice in parameter.choices
        if _number(choice) and (low is None or choice >= low) and (high is None or choice <= high)  # type: ignore[operator]
    ]
    if not kept:
        raise UserError(f"{name} is left without a value", f"legal here: {_legal(parameter)}")
    return fixed(parameter, kept)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _legal(parameter: Parameter) -> str:
    if parameter.choices:
        return ", ".join(map(str, parameter.choices))
    return f"{parameter.low}..{parameter.high}"

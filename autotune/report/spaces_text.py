"""``autotune spaces``: what each space is for, and what it may choose from, for a person."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from autotune.core.listed import ListedParameter, ListedSpace
from autotune.core.space import Omission, Parameter
from autotune.report.space_text import conditions, values

__all__ = ["space_details", "spaces_overview"]

_FEW = 6  # devices that an overview names
_WAY_ON = (
    "autotune spaces NAME: the values, and when each is a choice.",
    "autotune search MODEL --dry-run: what a model of yours allows.",
)


def spaces_overview(spaces: Sequence[ListedSpace], width: int | None) -> str:
    """Of each, what it is for, where, and the names of its parameters. ``width`` in columns; None: lines are not wrapped."""
    blocks = ["\n".join(_heading(one, width, few=True) + _names(one, width)) for one in spaces]
    return "\n\n".join([*blocks, "\n".join(_WAY_ON)])


def space_details(space: ListedSpace, width: int | None) -> str:
    """Every parameter: its values, when it is a choice, and what it does; then what is left out on this machine, and why."""
    lines = _heading(space, width, few=False)
    for listed in space.parameters:
        lines += ["", *_wrapped(f"{listed.parameter.name}: {values(listed.parameter)}", 2, width)]
        lines += [line for text in _remarks(listed) for line in _wrapped(text, 6, width)]
    if space.omissions:
        lines += ["", "left out here"]
        lines += [line for one in space.omissions for line in _wrapped(_omitted(one), 2, width)]
    return "\n".join(lines)


def _heading(space: ListedSpace, width: int | None, *, few: bool) -> list[str]:
    shown = space.devices[:3] if few and len(space.devices) > _FEW else space.devices
    devices = ", ".join(shown)
    if len(shown) < len(space.devices):
        devices += f" and {len(space.devices) - len(shown)} more (autotune devices)"
    facts = {"models": "; ".join(space.models), "devices": devices}
    return [f"{space.name}: {space.about}"] + [
        line for label, text in facts.items() if text for line in _labelled(label, text, width)
    ]


def _names(space: ListedSpace, width: int | None) -> list[str]:
    if space.parameters:
        return _labelled("parameters", ", ".join(one.parameter.name for one in space.parameters), width)
    lacks = [line for one in space.omissions for line in _labelled("missing", one.reason, width)]
    return lacks or _labelled("parameters", f"as the model allows: autotune search MODEL --space {space.name}", width)


def _remarks(listed: ListedParameter) -> list[str]:
    under = [f"only under a workload such as {' or '.join(listed.loads)}"] if listed.loads else []
    doc = listed.parameter.doc
    return [*conditions(listed.parameter), *_calibrated(listed.parameter), *under, *([doc] if doc else [])]


def _calibrated(parameter: Parameter) -> list[str]:
    if not parameter.calibrated:
        return []
    every = set(parameter.calibrated) == set(parameter.choices)
    return ["only with --data" if every else f"{', '.join(map(str, parameter.calibrated))}: only with --data"]


def _omitted(omission: Omission) -> str:
    which = f" {', '.join(map(str, omission.values))}" if omission.values else ""
    return f"{omission.parameter}{which}: {omission.reason}"


def _labelled(label: str, text: str, width: int | None) -> list[str]:
    first, *rest = _wrapped(text, 14, width, hanging=14)
    return [f"  {label:12}{first.lstrip()}", *rest]


def _wrapped(text: str, indent: int, width: int | None, *, hanging: int | None = None) -> list[str]:
    if width is None:
        return [" " * indent + text]
    return textwrap.wrap(
        text,
        width,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4 if hanging is None else hanging),
        break_on_hyphens=False,
        break_long_words=False,
    )

"""YAML that a person wrote: read safely, and with words for what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import yaml

from autotune.core.errors import UserError, nearest
from autotune.core.strict_yaml import load_yaml

__all__ = ["mapping_of", "named", "only_keys", "read_mapping"]


@contextmanager
def named(where: str) -> Iterator[None]:
    """Say where a value stands that a reader of one text alone refuses: ``where`` is its file and key."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{where}: {error.problem}", error.remedy) from error


def read_mapping(text: str, source: str) -> Mapping[str, Any]:
    """Read ``text`` as a mapping; ``source`` names it in messages. Raises ``UserError``."""
    try:
        data = load_yaml(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise UserError(f"{source} is no YAML{where}: {problem}", "mend the file") from error
    return mapping_of({} if data is None else data, source)


def mapping_of(data: object, where: str) -> Mapping[str, Any]:
    """Return ``data`` when it maps text. Raises ``UserError`` otherwise."""
    if isinstance(data, dict) and all(isinstance(key, str) for key in data):
        return data
    raise UserError(f"{where}: expected names with values, found {data!r}", "write NAME: VALUE, one a line")


def only_keys(data: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Raise ``UserError``, with the nearest known name, for a key of ``data`` that is not known."""
    names = list(known)
    for key in data:
        if key not in names:
            raise UserError(f"{where}: unknown key {key!r}{nearest(key, names)}", f"known: {', '.join(names)}")

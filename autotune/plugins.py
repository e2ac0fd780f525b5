"""Finds the spokes, and third parties' packages, by entry point."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from autotune.core.errors import UserError, nearest
from autotune.core.ports import Backend, ExecutorFactory, SpaceFunction

__all__ = ["Group", "backend", "executor_factory", "names", "require", "simulator", "space_function", "tracker_factory"]

Group = Literal["search_spaces", "backends", "executors", "simulators", "trackers"]


def names(group: Group) -> list[str]:
    """Names installed in a group, sorted."""
    return sorted(_entries(group))


def require(group: Group, name: str) -> None:
    """Raise ``UserError``, with the nearest name, when nothing of that name is installed in the group."""
    entries = _entries(group)
    if name not in entries:
        what = group.removesuffix("s").replace("_", " ")
        remedy = f"installed: {', '.join(sorted(entries)) or 'none (run `pip install -e .` again)'}"
        raise UserError(f"there is no {what} {name!r}{nearest(name, entries)}", remedy)


def backend(name: str) -> Backend:
    """Return a new backend. Raises ``UserError`` when there is none of that name or it cannot be imported."""
    made: Backend = _load("backends", name)()
    return made


def space_function(name: str) -> SpaceFunction:
    """Return the function that composes the space of that name. Raises ``UserError``."""
    function: SpaceFunction = _load("search_spaces", name)
    return function


def executor_factory(name: str) -> ExecutorFactory:
    """Return what makes executors of that name. Raises ``UserError``."""
    factory: ExecutorFactory = _load("executors", name)
    return factory


def simulator(name: str) -> Any:
    """Return the function that simulates that kind of thing (``points``: a table's path and the path to write to).

    Raises ``UserError``.
    """
    return _load("simulators", name)


def tracker_factory(name: str) -> Any:
    """Return the tracker class of that name. Raises ``UserError``."""
    return _load("trackers", name)


@cache
def _entries(group: Group) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"autotune.{group}")}


def _load(group: Group, name: str) -> Any:
    require(group, name)
    try:
        return _entries(group)[name].load()
    except ImportError as error:
        raise UserError(
            f"{name!r} of autotune.{group} cannot be imported: {error}", "install what it needs, see `autotune doctor`"
        ) from error

"""``autotune devices`` and ``backends``: what is here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from autotune.core.package import Package
    from autotune.core.ports import Backend

__all__ = ["register"]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def devices(as_json: AsJson = False) -> int:
    """List the devices here, and the simulated ones that a search can also name, with the confidence of their figures."""
    from autotune.api.backends_here import backends_here

    rows = [
        {
            "name": device.name,
            "kind": device.kind,
            "class": device.device_class,
            "model": device.model,
            "confidence": device.confidence,
            "cpus": device.cpus,
            "memory_bytes": device.memory_bytes,
            "backend": backend.name,
        }
        for backend, package in backends_here()
        if package is None
        for device in backend.devices()
    ]
    return _show("devices", [*rows, _this_host()], as_json)


def _this_host() -> dict[str, object]:
    """This machine as a simulated device: not looked at by a backend before it is named."""
    from autotune.api.this_host import THIS_HOST, kept_file

    file = kept_file()
    told = f"calibrated: {file}" if file.is_file() else "calibrated when a search names it, in half a minute"
    fields = {"name": THIS_HOST, "kind": "simulated", "class": "cpu", "model": told, "confidence": "medium"}
    return {**fields, "cpus": None, "memory_bytes": None, "backend": "simulated"}


def backends(as_json: AsJson = False) -> int:
    """List the backends, with the versions of what they run on, or the command that installs it."""
    from autotune.api.backends_here import backends_here

    rows = [
        {"name": backend.name, "versions": _versions(backend, package), "about": _about(backend)}
        for backend, package in backends_here()
    ]
    return _show("backends", rows, as_json)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(short_help="List the devices here.")(devices)
    app.command(short_help="List the backends and their versions.")(backends)


def _versions(backend: Backend, package: Package | None) -> str:
    if package is not None:
        return f"{package.absent}: {package.install}"
    return " ".join(f"{name} {version}" for name, version in backend.versions().items())


def _about(documented: object) -> str:
    """The first sentence of what it says of itself."""
    first = (documented.__doc__ or "").strip().partition("\n")[0]
    return first.partition(". ")[0].removesuffix(".").replace("``", "")


def _show(what: str, rows: Sequence[Mapping[str, object]], as_json: bool) -> int:
    from autotune.cli.output import console, print_json

    if as_json:
        import json

        print_json(json.dumps({"schema": f"autotune/{what}/1", what: rows}))
        return 0
    from rich.table import Table
    from rich.text import Text

    table = Table(*(rows[0] if rows else ("name",)), box=None, pad_edge=False)
    for row in rows:  # as texts, without markup: pip writes an extra in brackets
        table.add_row(*(Text("–" if value is None else str(value)) for value in row.values()))
    console().print(table)
    return 0

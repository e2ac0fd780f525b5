"""The installed backends, and which of them can run anything here."""

from __future__ import annotations

from autotune import plugins
from autotune.core.package import Package
from autotune.core.ports import Backend, Packaged

__all__ = ["backends_here", "lacking"]


def backends_here() -> list[tuple[Backend, Package | None]]:
    """Each backend, with the package without which it runs nothing here (None: it has what it needs).

    Raises ``UserError`` when one cannot be imported.
    """
    found = [plugins.backend(name) for name in plugins.names("backends")]
    return [(backend, lacking(backend)) for backend in found]


def lacking(backend: Backend) -> Package | None:
    """The package that the backend lacks; None where it lacks nothing, or does not say."""
    return backend.missing() if isinstance(backend, Packaged) else None

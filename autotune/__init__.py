"""autotune: the Pareto front of a model's deployments, measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autotune.core.version import __version__

if TYPE_CHECKING:
    from autotune.api import Deployed, Run, load, search

__all__ = ["Deployed", "Run", "__version__", "load", "search"]


def __getattr__(name: str) -> Any:
    """Import the public API when it is first used: ``import autotune`` alone stays light."""
    if name in __all__:
        from autotune import api

        return getattr(api, name)
    raise AttributeError(f"module 'autotune' has no attribute {name!r}")

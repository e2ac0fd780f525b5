"""The only timing code: sessions in processes of their own, rounds, intervals, pairs, output checks, quality, energy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autotune.measure.loads import Against, Measured, PhaseLoad
    from autotune.measure.measuring import measure

__all__ = ["Against", "Measured", "PhaseLoad", "measure"]


def __getattr__(name: str) -> Any:
    """Import when first used: a session's process imports this package too, and its memory is measured."""
    if name == "measure":
        from autotune.measure.measuring import measure

        return measure
    if name in __all__:
        from autotune.measure import loads

        return getattr(loads, name)
    raise AttributeError(f"module 'autotune.measure' has no attribute {name!r}")

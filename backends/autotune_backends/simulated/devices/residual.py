"""How far the simulator was off on one point that somebody measured on a device."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Residual"]


@dataclass(frozen=True, slots=True)
class Residual:
    """ln(measured / predicted) of one point: of a ``step``'s time; of the ``first`` token beyond its steps'; of ``power`` in
    watts. None: not measured. ``served``: the model and the engine. ``sigma``: the standard deviation of a step's error there,
    before anything was measured.
    """

    served: tuple[str, str]
    sigma: float
    step: float | None
    first: float | None
    power: float | None

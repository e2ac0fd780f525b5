"""One number of a result, with its unit, its interval and where it comes from."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field, field_validator

from autotune.core.frozen import Record

__all__ = ["Provenance", "Value"]

Provenance = Literal["measured", "simulated", "estimated", "published"]


class Value(Record):
    """A number in SI units.

    ``value`` None means unknown (never 0, never a constant in disguise).
    ``low``..``high`` is a 95 % interval, None where there is none.
    ``n`` counts the samples behind it. ``basis`` says in words what it was derived from.
    ``parts`` is the same metric of each part of the work, by name: of an output (fidelity), of a shape (``seq=128``).
    ``common``, of a simulated interval: the share of its error's variance that all settings of this model on this device have
    in common, 0 to 1; None: nothing is known of it.
    NaN and infinities are no values: they are read as unknown.
    """

    value: float | None
    unit: str
    low: float | None = None
    high: float | None = None
    n: int | None = None
    provenance: Provenance = "measured"
    basis: str | None = None
    common: float | None = Field(default=None, exclude_if=lambda share: share is None)
    parts: dict[str, Value] = Field(default_factory=dict, exclude_if=lambda parts: not parts)

    @field_validator("value", "low", "high")
    @classmethod
    def _finite(cls, number: float | None) -> float | None:
        return number if number is not None and math.isfinite(number) else None

    @property
    def known(self) -> bool:
        """Whether there is a number at all."""
        return self.value is not None

    def interval(self) -> tuple[float, float]:
        """Return (low, high); a missing end is the value itself. Raises ``ValueError`` when the value is unknown."""
        if self.value is None:
            raise ValueError("an unknown value has no interval")
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        return low, high

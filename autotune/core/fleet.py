"""A fleet: replicas of one simulated deployment that share a load."""

from __future__ import annotations

from pydantic import Field

from autotune.core.frozen import Record

__all__ = ["HOURS_PER_MONTH", "Fleet"]

HOURS_PER_MONTH = 8766 / 12  # of a year of 365.25 days


class Fleet(Record):
    """``rate_per_s``: requests a second for all replicas together. ``spare``: replicas beyond those that the limits need."""

    rate_per_s: float = Field(gt=0)
    spare: int = Field(default=0, ge=0)

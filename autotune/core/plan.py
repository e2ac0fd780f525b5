"""A plan: how thoroughly a trial is measured."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from autotune.core.frozen import Record

__all__ = ["PAIRED_SIDES", "Part", "Plan"]

PAIRED_SIDES = 2  # sessions that a paired phase warms up and measures

Part = Literal["select", "confirm", "all"]


class Plan(Record):
    """Times in seconds, for each phase of the workload.

    ``round_s``: a round loops inside until it lasts about this long. Measuring ends between ``min_rounds`` and
    ``max_rounds`` as soon as the interval of the phase's objective is narrower than ``precision`` (relative half-width),
    or when ``phase_limit_s`` is used up. ``warmup_limit_s`` bounds the wait for a steady state.
    ``paired``: rounds alternate with the baseline's in a second process, and ratios are reported; both limits hold for each
    of the two sides. ``piece_s``: loads are cut into pieces of about this length, which alternate between the two sides too;
    None: one side's whole load comes after the other's.
    ``time_limit_s`` ends the whole trial as a ``timeout``; ``memory_limit_bytes`` (None: no limit) bounds its process tree.
    ``quality`` says which part of the data quality is taken from.
    """

    name: str = "search"
    round_s: float = 0.05
    min_rounds: int = 8
    max_rounds: int = 60
    precision: float = 0.01
    warmup_limit_s: float = 2.0
    phase_limit_s: float = 2.0
    paired: bool = False
    time_limit_s: float = 120.0
    memory_limit_bytes: int | None = None
    quality: Part = "select"
    piece_s: float | None = Field(default=None, exclude_if=lambda length: length is None)

    @property
    def longest_phase_s(self) -> float:
        """Seconds that a phase may take, warm-up included: both sides when it is paired. The last round may pass it."""
        sides = PAIRED_SIDES if self.paired else 1
        return sides * (self.warmup_limit_s + self.phase_limit_s)

"""Runs of decode steps as arithmetic series."""

from __future__ import annotations

import math

__all__ = ["steps_to_reach"]


def steps_to_reach(seconds: float, first_s: float, growth_s: float, at_most: int) -> int:
    """The fewest steps, at least 1, that together last ``seconds``, the first ``first_s`` and each ``growth_s`` longer.

    Never more than ``at_most``. Solves n * first_s + growth_s * n (n - 1) / 2 >= seconds, and checks the neighbours for what
    the square root rounded away.
    """
    if at_most * first_s + growth_s * (at_most * (at_most - 1) // 2) < seconds:
        return at_most
    slope = first_s - growth_s / 2
    if growth_s > 0:
        steps = int((math.sqrt(slope * slope + 2 * growth_s * seconds) - slope) / growth_s) if seconds > 0 else 1
    else:
        steps = int(seconds / first_s)
    steps = max(1, min(steps, at_most))
    while steps > 1 and (steps - 1) * first_s + growth_s * ((steps - 1) * (steps - 2) // 2) >= seconds:
        steps -= 1
    while steps < at_most and steps * first_s + growth_s * (steps * (steps - 1) // 2) < seconds:
        steps += 1
    return steps

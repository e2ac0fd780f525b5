"""Splits samples once: into what calibrates, what selects, and what confirms."""

from __future__ import annotations

import numpy as np

from autotune.core.dataset import Split

__all__ = ["MOST_CALIBRATED", "SMALLEST_SPLIT", "split"]

SMALLEST_SPLIT = 30  # samples: with fewer there is no split, and every quality number says so
MOST_CALIBRATED = 256  # samples: what quantisers are calibrated with at most


def split(count: int, seed: int) -> Split:
    """Shuffle ``count`` indices by ``seed`` and cut: a fifth, at most 256, calibrates; the rest selects and confirms, half each.

    Each part stays shuffled, so that its first few are a fair sample of it.
    """
    order = [int(index) for index in np.random.default_rng(seed).permutation(count)]
    if count < SMALLEST_SPLIT:
        return Split(calibrate=tuple(order), select=tuple(order), confirm=tuple(order), whole=True)
    calibrated = min(MOST_CALIBRATED, count // 5)
    middle = calibrated + (count - calibrated) // 2
    return Split(
        calibrate=tuple(order[:calibrated]), select=tuple(order[calibrated:middle]), confirm=tuple(order[middle:])
    )

"""By what a round is compared with another: the median of its requests' times, or their lower quartile."""

from __future__ import annotations

from autotune.core.values import Value

__all__ = ["BY_MEDIAN", "BY_QUARTILE", "is_by_quartile"]

BY_MEDIAN = "median of paired rounds' ratios"
BY_QUARTILE = f"{BY_MEDIAN}, each by its lower quartile: the machine was disturbed"


def is_by_quartile(ratio: Value) -> bool:
    """Whether a ratio compares lower quartiles. Those of two models may differ by another factor than their medians do."""
    return (ratio.basis or "").startswith(BY_QUARTILE)

"""Ratios of simulated values: the same simulation gives both, so that they need no pairing and have no noise."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.core.metrics import find_metric
from autotune.core.values import Value

__all__ = ["simulated_ratios"]


def simulated_ratios(metrics: Mapping[str, Value], baseline: Mapping[str, Value]) -> dict[str, Value]:
    """Each simulated metric with a unit relative to the baseline's; without an interval, since both share the model's error."""
    ratios = {}
    for name, value in metrics.items():
        other = baseline.get(name)
        if other is None or not other.value or value.value is None or not find_metric(name).relative:
            continue
        if value.provenance == other.provenance == "simulated":
            ratios[name] = Value(value=value.value / other.value, unit="1", provenance="simulated")
    return ratios

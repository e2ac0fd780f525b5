"""Whether who chooses a setting by prediction chooses well."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from benchmarks.simulator_held_out import ScoredPoint

__all__ = ["good_choices"]


def good_choices(points: Sequence[ScoredPoint]) -> float:
    """The share of groups whose predicted best is within 10 % of the best measured. A group is a model, precision and engine on a
    device; the best setting gives the most tokens/s a device.
    """
    groups: dict[tuple[str, ...], list[ScoredPoint]] = defaultdict(list)
    for one in points:
        groups[tuple(one.served.row[name] for name in ("system", "backend", "model", "precision"))].append(one)
    good = 0
    for group in groups.values():
        chosen = max(group, key=lambda one: one.loop.output_throughput / one.served.costs.devices)
        best = max(_measured(one) for one in group)
        good += _measured(chosen) >= 0.9 * best
    return good / len(groups)


def _measured(one: ScoredPoint) -> float:
    return float(one.served.row["tokens_s_gpu_derived"])

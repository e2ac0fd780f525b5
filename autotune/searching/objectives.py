"""Which objectives a search can pursue: those that the baseline has a number for."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.errors import UserError
from autotune.core.objective import Objective
from autotune.core.trial import TrialRecord

__all__ = ["costs_of", "usable_objectives"]


def usable_objectives(
    objectives: Sequence[Objective], baseline: TrialRecord
) -> tuple[tuple[Objective, ...], tuple[tuple[Objective, str], ...]]:
    """Split ``objectives`` into those kept and those dropped, each with the reason in words.

    Nothing can be compared on a metric that is unknown for the unmodified model (energy on a CPU without a power model).
    Raises ``UserError`` when none is left.
    """
    metrics = baseline.measurement.metrics if baseline.measurement else {}
    kept, dropped = [], []
    for objective in objectives:
        value = metrics.get(objective.metric)
        if value is not None and value.known:
            kept.append(objective)
        else:
            why = (value.basis if value else None) or "it is unknown for the unmodified model here"
            dropped.append((objective, f"{objective.metric} is no objective of this search: {why}"))
    if not kept:
        names = ", ".join(objective.metric for objective in objectives)
        raise UserError(f"no objective can be measured here: {names}", "choose others with --objective")
    return tuple(kept), tuple(dropped)


def costs_of(record: TrialRecord, objectives: Sequence[Objective]) -> tuple[float, ...] | None:
    """Return one cost an objective (less is better); None when the trial has no number for one of them."""
    if record.measurement is None:
        return None
    costs = []
    for objective in objectives:
        value = record.measurement.metrics.get(objective.metric)
        if value is None or value.value is None:
            return None
        costs.append(objective.cost(value.value))
    return tuple(costs)

"""Which candidates a rough estimate proposes for the first trials of a simulated search: the trials decide."""

from __future__ import annotations

import heapq
import random
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from autotune.core.assignment import SearchContext
from autotune.core.candidate import Candidate
from autotune.core.limits import Limit
from autotune.core.metrics import percentile_of
from autotune.core.objective import Objective
from autotune.core.pareto import non_dominated
from autotune.core.ports import Backend, Screening
from autotune.core.space import SearchSpace
from autotune.searching.unseen import draw_candidate

__all__ = ["Place", "promising", "screened_places"]

Place = tuple[str, Candidate]
Figures = Mapping[str, float]

AT_MOST = 36  # trials of all devices together
_WHOLE = 20_000  # candidates: a larger space is sampled
_STANDS_FOR = {"cost_per_month": "cost_per_million_tokens"}  # under a given load the order is the same, nearly


def screened_places(space: SearchSpace, context: SearchContext, backends: Sequence[Backend]) -> tuple[Place, ...]:
    """The most promising places of the whole space, or of a sample that the seed draws; none where no backend screens."""
    places: list[Place] = []
    figures: list[Figures] = []
    candidates = _candidates(space, context.seed)
    for backend in backends:
        if isinstance(backend, Screening):
            own = [candidate for candidate in candidates if candidate.get("runtime") == backend.name]
            for device in context.devices:
                seen = backend.screen(context.model, own, device, context.workload, context.ownership)
                able = [(one, found) for one, found in zip(own, seen, strict=True) if found is not None]
                places += [(device.name, one) for one, _ in able]
                figures += [found for _, found in able]
    return tuple(places[row] for row in promising(figures, context.objectives, context.limits))


def promising(figures: Sequence[Figures], objectives: Sequence[Objective], limits: Sequence[Limit]) -> list[int]:
    """Rows that hold the limits and that no other beats, each first what adds most to the hypervolume of those before.

    A limit or an objective of which nothing is known is not looked at; limits that none holds are not either. Of equal rows
    the first is taken; at most 36.
    """
    known = [goal for goal in objectives if figures and all(_figure(one, goal.metric) for one in figures)]
    if not known:
        return []
    rows = _holding(figures, limits)
    costs = np.array([[goal.cost(np.log(_figure(figures[row], goal.metric))) for goal in known] for row in rows])
    _, firsts = np.unique(np.round(costs, 9), axis=0, return_index=True)
    distinct = np.sort(firsts)
    front = distinct[non_dominated(costs[distinct])]
    return [rows[int(front[index])] for index in _widest(costs[front])]


def _candidates(space: SearchSpace, seed: int) -> list[Candidate]:
    if space.size(at_most=_WHOLE) is not None:
        return space.candidates()
    draw = random.Random(f"screen {seed}")
    return list(dict.fromkeys(draw_candidate(space, draw) for _ in range(_WHOLE)))


def _figure(figures: Figures, metric: str) -> float:
    """By the metric's own name, what stands for it, or its family's mean; 0: unknown."""
    name = _STANDS_FOR.get(metric, metric)
    family = name.rpartition("_p")[0] if percentile_of(name) is not None else name
    return figures.get(name) or figures.get(family) or 0.0


def _holding(figures: Sequence[Figures], limits: Sequence[Limit]) -> list[int]:
    judged = [limit for limit in limits if limit.metric not in _STANDS_FOR]
    rows = [
        row
        for row, one in enumerate(figures)
        if all(limit.excess(value) <= 0 for limit in judged if (value := _figure(one, limit.metric)))
    ]
    return rows or list(range(len(figures)))


def _widest(costs: NDArray[np.float64]) -> list[int]:
    """Rows by what each adds to the hypervolume, the most first. What a row adds only shrinks as others come before it, so
    that a row whose old gain is the largest and still holds needs no comparison (Minoux, 1978).
    """
    from moocore import hypervolume

    span = np.ptp(costs, axis=0)
    scaled = (costs - costs.min(axis=0)) / np.where(span > 0, span, 1.0)
    reference = np.full(costs.shape[1], 1.1)
    chosen: list[int] = []
    reached = 0.0
    waiting = [(-float(np.prod(reference - row)), index, 0) for index, row in enumerate(scaled)]
    heapq.heapify(waiting)
    while waiting and len(chosen) < AT_MOST:
        _, index, compared = heapq.heappop(waiting)
        now = float(hypervolume(scaled[[*chosen, index]], ref=reference))
        if compared == len(chosen):
            chosen.append(index)
            reached = now
        else:
            heapq.heappush(waiting, (reached - now, index, len(chosen)))
    return chosen

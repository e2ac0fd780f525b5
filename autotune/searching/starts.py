"""What is tried before any sampler proposes: what an estimate of the space proposes, and what an engineer would try."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.candidate import Candidate
from autotune.core.space import SearchSpace
from autotune.searching.ledger import Ledger

__all__ = ["Starts"]

Place = tuple[str, Candidate]

_SHARE = 1 / 3
"""Of a search's trials that may be starting points. Experts come the usual winners first, so that what a short search leaves
out is what seldom wins; its other trials go where its own measurements point."""

_DRAWN = 10
"""So many are tried however short the search is: TPE draws at random until it knows ten records, and experts beat draws."""


class Starts:
    """Starting points of one search, in order. ``devices``: names of those that every expert is tried on."""

    def __init__(self, space: SearchSpace, devices: Sequence[str], ledger: Ledger) -> None:
        self._ledger = ledger
        self._screened: Sequence[Place] = space.screened
        self._experts: Sequence[Place] = [
            (device, expert) for expert in space.experts if space.fault(expert) is None for device in devices
        ]

    def next(self, trials: float) -> Place | None:
        """The next one; None when all were tried, or as many as a search of ``trials`` trials has for them.

        What an estimate proposes is tried whatever it takes of them, since it knows this very model and load; experts get
        what that leaves.
        """
        screened = self._untried(self._screened)
        if screened:
            return screened[0]
        experts = self._untried(self._experts)
        tried = len(self._screened) + len(self._experts) - len(experts)
        return experts[0] if experts and tried < max(_DRAWN, _SHARE * trials) else None

    def _untried(self, places: Sequence[Place]) -> Sequence[Place]:
        return [place for place in places if not self._ledger.knows(*place)]

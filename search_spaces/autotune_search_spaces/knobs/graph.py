"""How far the runtime rewrites the graph."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.space import Offer
from autotune_search_spaces.knobs.choice import Choice, take

__all__ = ["GRAPH", "graph"]

GRAPH = ("graph_optimization",)


def graph(offers: Sequence[Offer]) -> Choice:
    """Fewer rewrites load faster, and are sometimes no slower."""
    return take(GRAPH, offers)

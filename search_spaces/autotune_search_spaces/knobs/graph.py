"""How far the graph is rewritten: ahead by the transformer optimiser, at load by the runtime."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.recovery import RECOVERY
from autotune.core.space import Offer
from autotune_search_spaces.knobs.choice import Choice, take

__all__ = ["GRAPH", "graph"]

GRAPH = ("pruning_ratio", RECOVERY, "fusion", "graph_optimization")


def graph(offers: Sequence[Offer]) -> Choice:
    """What is fused ahead can be quantised as one. Fewer rewrites load faster, and are sometimes no slower."""
    return take(GRAPH, offers)

"""The space of ONNX graphs on simulated devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autotune.core.candidate import Candidate
from autotune.core.model import ModelFacts
from autotune.core.space import Offer, Parameter, SearchSpace
from autotune.core.workload import Workload
from autotune_search_spaces.joined import joined
from autotune_search_spaces.knobs.batch import batch
from autotune_search_spaces.knobs.choice import join
from autotune_search_spaces.knobs.runtime import runtime, willing
from autotune_search_spaces.points import complete

__all__ = ["graph_space"]

_UNTOLD = ("sparsity", "unpriced")  # not offered, and offers say why


def graph_space(
    model: ModelFacts,  # noqa: ARG001  # what it is made of is in the offers
    offers: Sequence[Offer],
    workload: Workload,
) -> SearchSpace:
    """ONNX models on simulated devices.

    Composed from what those offer: each of their formats, whether or not the others have it.

    Raises ``UserError`` when no device can run the graph.
    """
    able = willing(offers)
    choices = (runtime(offers), join(("precision", *_UNTOLD), able), batch(able, workload))
    return joined("graph", choices, able, _experts)


def _experts(parameters: Sequence[Parameter], offers: Sequence[Offer]) -> Iterator[Candidate]:
    """Every device as it would usually be, then in each of its narrower formats."""
    for offer in offers:
        yield complete(parameters, offer.usual, {})
    for offer in offers:
        formats = offer.parameter("precision")
        for name in formats.choices if formats else ():
            yield complete(parameters, {**offer.usual, "precision": name}, {})

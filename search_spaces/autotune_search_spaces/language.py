"""The space of language models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autotune.core.candidate import Candidate, Scalar
from autotune.core.model import ModelFacts
from autotune.core.space import Offer, Parameter, SearchSpace
from autotune.core.workload import Workload
from autotune_search_spaces.knobs.kv_cache import kv_cache
from autotune_search_spaces.knobs.number_format import number_format
from autotune_search_spaces.knobs.parallelism import parallelism
from autotune_search_spaces.knobs.runtime import runtime, willing
from autotune_search_spaces.knobs.scheduling import scheduling
from autotune_search_spaces.points import complete, distinct

__all__ = ["language_space"]

# what often wins beside each device's own usual values
_WISHES: tuple[dict[str, Scalar], ...] = (
    {"precision": "fp8", "kv_precision": "fp8"},
    {"precision": "int8"},
    {"precision": "int4"},
    {"max_num_seqs": 128},
)


def language_space(model: ModelFacts, offers: Sequence[Offer], workload: Workload) -> SearchSpace:
    """Compose the space from what devices offer: each of their values, whether or not the others have it.

    Raises ``UserError`` when no device can run the model.
    """
    able = willing(offers)
    choices = (
        runtime(offers),
        number_format(able),
        parallelism(able),
        scheduling(able),
        kv_cache(able, workload),
    )
    parameters = tuple(parameter for choice in choices for parameter in choice.parameters)
    baseline = complete(parameters, able[0].usual, {})
    return SearchSpace(
        name=model.format,
        parameters=parameters,
        omissions=tuple(omission for choice in choices for omission in choice.omissions),
        baseline=baseline,
        reference=baseline,
        experts=distinct(tuple(_experts(parameters, able)), [baseline]),
    )


def _experts(parameters: Sequence[Parameter], offers: Sequence[Offer]) -> Iterator[Candidate]:
    """Every device as its runtime would have it, then what often wins."""
    for wish in ({}, *_WISHES):
        for offer in offers:
            yield complete(parameters, {**offer.usual, **wish}, {})

"""The space of language models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autotune.core.candidate import Candidate, Scalar
from autotune.core.model import ModelFacts
from autotune.core.space import Offer, Parameter, SearchSpace
from autotune.core.workload import Workload
from autotune_search_spaces.joined import joined
from autotune_search_spaces.knobs.kv_cache import kv_cache
from autotune_search_spaces.knobs.number_format import number_format
from autotune_search_spaces.knobs.parallelism import parallelism
from autotune_search_spaces.knobs.runtime import runtime, willing
from autotune_search_spaces.knobs.scheduling import scheduling
from autotune_search_spaces.points import complete

__all__ = ["language_space"]

# what often wins beside each device's own usual values
_WISHES: tuple[dict[str, Scalar], ...] = (
    {"precision": "fp8", "kv_precision": "fp8"},
    {"precision": "int8"},
    {"precision": "int4"},
    {"max_num_seqs": 128},
)


def language_space(model: ModelFacts, offers: Sequence[Offer], workload: Workload) -> SearchSpace:
    """Language models, served by simulated devices.

    Composed from what devices offer: each of their values, whether or not the others have it.

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
    return joined(model.format, choices, able, _experts)


def _experts(parameters: Sequence[Parameter], offers: Sequence[Offer]) -> Iterator[Candidate]:
    """Every device as its runtime would have it, then what often wins."""
    for wish in ({}, *_WISHES):
        for offer in offers:
            yield complete(parameters, {**offer.usual, **wish}, {})

"""How the space of simulated devices is put together: each of their values, whether or not the others have it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from autotune.core.candidate import Candidate
from autotune.core.space import Offer, Parameter, SearchSpace
from autotune_search_spaces.knobs.choice import Choice
from autotune_search_spaces.points import complete, distinct

__all__ = ["Experts", "joined"]

Experts = Callable[[Sequence[Parameter], Sequence[Offer]], Iterable[Candidate]]


def joined(name: str, choices: Sequence[Choice], able: Sequence[Offer], experts: Experts) -> SearchSpace:
    """The baseline, which is also what outputs would be compared with, is what is usual on the first of the ``able`` devices."""
    parameters = tuple(parameter for choice in choices for parameter in choice.parameters)
    baseline = complete(parameters, able[0].usual, {})
    return SearchSpace(
        name=name,
        parameters=parameters,
        omissions=tuple(omission for choice in choices for omission in choice.omissions),
        baseline=baseline,
        reference=baseline,
        experts=distinct(tuple(experts(parameters, able)), [baseline]),
    )

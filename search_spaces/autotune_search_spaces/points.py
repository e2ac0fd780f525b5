"""Points of a space, written as a few wishes and completed to legal candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotune.core.candidate import Candidate, Scalar
from autotune.core.space import Parameter

__all__ = ["as_it_is", "complete", "distinct"]


def complete(
    parameters: Sequence[Parameter], wishes: Mapping[str, Scalar], fallback: Mapping[str, Scalar]
) -> Candidate:
    """Return a candidate that has every parameter that applies, each with the first legal value found.

    Looked for in ``wishes``, then in ``fallback``; else the parameter's first value.
    """
    chosen: dict[str, Scalar] = {}
    for parameter in parameters:
        if parameter.active(chosen):
            wanted = (source[parameter.name] for source in (wishes, fallback) if parameter.name in source)
            fitting = (value for value in wanted if parameter.fits(value, chosen))
            chosen[parameter.name] = next(fitting, _first(parameter, chosen))
    return Candidate(chosen)


def as_it_is(parameters: Sequence[Parameter]) -> dict[str, Scalar]:
    """The model as it is, under the runtime's defaults: all rewrites, every counted CPU, one request at a time."""
    threads = next((parameter.choices for parameter in parameters if parameter.name == "intra_op_threads"), ())
    most = {"intra_op_threads": max(int(count) for count in threads)} if threads else {}
    return {"graph_optimization": "all", "execution_mode": "sequential", "spinning": True, "batch_size": 1, **most}


def distinct(candidates: Sequence[Candidate], known: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates in order, without repeats and without those ``known`` already."""
    return tuple(candidate for candidate in dict.fromkeys(candidates) if candidate not in known)


def _first(parameter: Parameter, chosen: Mapping[str, Scalar]) -> Scalar:
    if parameter.choices:
        return next(value for value in parameter.choices if parameter.fits(value, chosen))
    low = parameter.low or 0.0
    return int(low) if parameter.integer else low

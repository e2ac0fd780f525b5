"""The space of ONNX models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotune.core.candidate import Scalar
from autotune.core.model import ModelFacts
from autotune.core.space import Offer, Parameter, SearchSpace
from autotune.core.workload import Workload
from autotune_search_spaces.knobs.batch import BATCH, batch
from autotune_search_spaces.knobs.graph import GRAPH, graph
from autotune_search_spaces.knobs.precision import PRECISION, precision
from autotune_search_spaces.knobs.rest import rest
from autotune_search_spaces.knobs.runtime import runtime, willing
from autotune_search_spaces.knobs.threads import THREADS, threads
from autotune_search_spaces.points import as_it_is, complete, distinct

__all__ = ["onnx_space"]

_REFERENCE: dict[str, Scalar] = {"graph_optimization": "disabled", "intra_op_threads": 1}
_PER_CHANNEL: dict[str, Scalar] = {"precision": "int8_dynamic", "int8_per_channel": True}


def onnx_space(model: ModelFacts, offers: Sequence[Offer], workload: Workload) -> SearchSpace:
    """Compose the space from what the backends offer. Raises ``UserError`` when none of them can run the model."""
    able = willing(offers)
    governed = {*PRECISION, *GRAPH, *THREADS, *BATCH}
    choices = (
        runtime(offers),
        precision(able),
        graph(able),
        threads(able),
        rest(able, governed),
        batch(able, workload),
    )
    parameters = tuple(parameter for choice in choices for parameter in choice.parameters)
    defaults = as_it_is(parameters)
    baseline = complete(parameters, defaults, {})
    experts = [complete(parameters, wishes, defaults) for wishes in _experts(parameters)]
    return SearchSpace(
        name=f"{model.format}",
        parameters=parameters,
        omissions=tuple(omission for choice in choices for omission in choice.omissions),
        baseline=baseline,
        reference=complete(parameters, _REFERENCE, defaults),
        experts=distinct(experts, [baseline]),
    )


def _experts(parameters: Sequence[Parameter]) -> list[Mapping[str, Scalar]]:
    """What an engineer would try first: usual winners, the cheapest to try first."""
    large = _large_batch(parameters)
    return [
        {**_PER_CHANNEL, "int8_operators": "matmul"},
        {**_PER_CHANNEL, "int8_operators": "all"},
        {"batch_size": large},
        {**_PER_CHANNEL, "int8_operators": "matmul", "batch_size": large},
        {"intra_op_threads": 1},
        {**_PER_CHANNEL, "int8_operators": "matmul", "intra_op_threads": 1, "batch_size": large},
        {"spinning": False},
        {"execution_mode": "parallel"},
        {"graph_optimization": "extended"},
        {"precision": "int8_dynamic", "int8_per_channel": False, "int8_operators": "matmul"},
    ]


def _large_batch(parameters: Sequence[Parameter]) -> int:
    """A batch that fills the caches of most CPUs without leaving them: 16, or the largest that there is."""
    sizes = next((parameter.choices for parameter in parameters if parameter.name == "batch_size"), (1,))
    return max(int(size) for size in sizes if int(size) <= 16)

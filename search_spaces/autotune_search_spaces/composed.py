"""How a space is put together from knobs, whatever the model's format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from autotune.core.candidate import Scalar
from autotune.core.model import ModelFacts
from autotune.core.space import Offer, Parameter, SearchSpace
from autotune.core.workload import Workload
from autotune_search_spaces.experts import Wishes
from autotune_search_spaces.knobs.batch import BATCH, batch
from autotune_search_spaces.knobs.graph import GRAPH, graph
from autotune_search_spaces.knobs.kernels import KERNELS, kernels
from autotune_search_spaces.knobs.memory import MEMORY, memory
from autotune_search_spaces.knobs.policy import POLICY, policy
from autotune_search_spaces.knobs.precision import PRECISION, precision
from autotune_search_spaces.knobs.rest import rest
from autotune_search_spaces.knobs.runtime import runtime, willing
from autotune_search_spaces.knobs.threads import THREADS, threads
from autotune_search_spaces.points import as_it_is, complete, distinct

__all__ = ["composed"]


def composed(
    model: ModelFacts,
    offers: Sequence[Offer],
    workload: Workload,
    *,
    experts: Callable[[Sequence[Parameter]], Sequence[Wishes]],
    reference: Mapping[str, Scalar],
) -> SearchSpace:
    """Compose the space from what the backends offer. Raises ``UserError`` when none of them can run the model.

    ``experts`` are what to try first, ``reference`` what makes the unoptimised model of its own.
    """
    able = willing(offers)
    governed = {*KERNELS, *PRECISION, *GRAPH, *THREADS, *MEMORY, *BATCH, *POLICY}
    choices = (
        runtime(offers),
        kernels(able),
        precision(able),
        graph(able),
        threads(able),
        memory(able),
        rest(able, governed),
        batch(able, workload),
        policy(able, workload),
    )
    parameters = tuple(parameter for choice in choices for parameter in choice.parameters)
    defaults = as_it_is(parameters)
    baseline = complete(parameters, defaults, {})
    known = [complete(parameters, wishes, defaults) for wishes in experts(parameters)]
    return SearchSpace(
        name=f"{model.format}",
        parameters=parameters,
        omissions=tuple(omission for choice in choices for omission in choice.omissions),
        baseline=baseline,
        reference=complete(parameters, reference, defaults),
        experts=distinct(known, [baseline]),
    )

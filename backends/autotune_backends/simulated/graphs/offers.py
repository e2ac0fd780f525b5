"""What can be chosen for a graph on a simulated device, and why the rest is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from autotune.core.candidate import Scalar
from autotune.core.graph_work import GraphWork
from autotune.core.model import ModelFacts
from autotune.core.space import Offer, Omission, Parameter
from autotune_backends.simulated.devices import SimulatedDevice
from autotune_backends.simulated.graphs.costs import graph_costs
from autotune_backends.simulated.graphs.formats import FORMATS, formats_on
from autotune_backends.simulated.graphs.reading import graph_of, unbatched
from autotune_backends.simulated.graphs.support import refuse_unsupported
from autotune_backends.simulated.operators.efficiency import lacking
from autotune_backends.simulated.precision import PRECISIONS
from autotune_backends.simulated.refusals import Infeasible

__all__ = ["graph_offer", "widest_graph_offer"]

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)

_UNTRAINED = "a model has to be trained for 2:4, and what it then loses is not known; `autotune simulate` prices it"


def graph_offer(backend: str, model: ModelFacts, device: SimulatedDevice) -> Offer:
    """Formats that the device computes in, and batches; a refusal where the graph cannot run there in any way."""
    formats = formats_on(device)
    usual, refusal = _usual(model, device, formats)
    if refusal is not None:
        return Offer(backend=backend, device=device.name, refusal=refusal)
    batches, omissions = _batches(model)
    omissions += [*_unpriced(graph_of(model).work), *_lacking(device, formats)]
    if device.sparsity:
        omissions.append(Omission(parameter="sparsity", reason=_UNTRAINED))
    parameters = _parameters(formats, batches)
    return Offer(
        backend=backend, device=device.name, parameters=parameters, omissions=tuple(omissions), usual=dict(usual)
    )


def widest_graph_offer(backend: str, device: SimulatedDevice) -> Offer | None:
    """For a graph that runs there and whose batch may grow; None: the device has units for no format of graphs."""
    formats = formats_on(device)
    if not formats:
        return None
    usual: dict[str, Scalar] = {"precision": formats[0], "batch_size": 1}
    return Offer(backend=backend, device=device.name, parameters=_parameters(formats, BATCHES), usual=usual)


def _parameters(formats: tuple[str, ...], batches: tuple[int, ...]) -> tuple[Parameter, ...]:
    return (
        Parameter(name="precision", choices=formats, affects="build", doc="format of products; int8: of weights too"),
        Parameter(name="batch_size", choices=batches, affects="run", doc="samples in a run"),
    )


def _batches(model: ModelFacts) -> tuple[tuple[int, ...], list[Omission]]:
    reason = unbatched(model)
    if reason is None:
        return BATCHES, []
    return (1,), [Omission(parameter="batch_size", values=BATCHES[1:], reason=reason)]


def _unpriced(work: GraphWork) -> Iterator[Omission]:
    """What the price lacks, as an omission: a person is told before the first trial."""
    if work.unpriced:
        kinds = ", ".join(dict.fromkeys(one.operator for one in work.unpriced))
        every = len(work.unpriced) + len(work.nodes)
        reason = (
            f"{len(work.unpriced)} of {every} operators cost an unknown time ({kinds}): intervals reach higher for it"
        )
        yield Omission(parameter="unpriced", reason=reason)


def _lacking(device: SimulatedDevice, formats: tuple[str, ...]) -> Iterator[Omission]:
    for name in FORMATS:
        if name not in formats:
            yield Omission(parameter="precision", values=(name,), reason=lacking(device, PRECISIONS[name]))


def _usual(
    model: ModelFacts, device: SimulatedDevice, formats: tuple[str, ...]
) -> tuple[Mapping[str, Scalar], str | None]:
    """The widest format in which one sample fits; or why none does."""
    why = "no format that it multiplies in is known"
    for name in formats:
        values: dict[str, Scalar] = {"precision": name, "batch_size": 1}
        try:
            graph = graph_of(model)
            refuse_unsupported(model, graph.work, device)
            graph_costs(graph, device, values)
        except Infeasible as error:
            why = error.problem
            continue
        return values, None
    return {}, why

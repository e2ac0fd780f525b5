"""The batch policy of a server: how large a batch may grow, how long a request waits for others, how many instances run."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.batching import FILL, INSTANCES, MAX_BATCH, QUEUE_DELAY
from autotune.core.space import Offer, Omission, Parameter
from autotune.core.workload import Workload
from autotune_search_spaces.knobs.choice import Choice, take

__all__ = ["POLICY", "policy"]

POLICY = (MAX_BATCH, QUEUE_DELAY, INSTANCES)

_DELAYS_S = (0.0, 0.001, 0.002, 0.005, 0.01)


def policy(offers: Sequence[Offer], workload: Workload) -> Choice:
    """Only where requests come several at once is there a policy: elsewhere nothing waits in a queue.

    Batches are those that the runtimes offer. Instances share the counted CPUs: one, or as many as they hold at the threads
    that each has.
    """
    if not (workload.has("server") or workload.has("multi_stream")):
        reason = f"the workload {workload.name!r} has no phase in which requests come several at once"
        return Choice(omissions=tuple(Omission(parameter=name, reason=reason) for name in POLICY))
    batches, omissions = _batches(offers)
    instances, more = _instances(offers)
    return Choice((*batches, *instances), (*omissions, *more))


def _batches(offers: Sequence[Offer]) -> tuple[tuple[Parameter, ...], tuple[Omission, ...]]:
    found = take(("batch_size",), offers)
    sizes = tuple(size for parameter in found.parameters for size in parameter.choices)
    larger = tuple(size for size in sizes if int(size) > 1)
    if not larger:
        reason = next((omission.reason for omission in found.omissions), "no runtime offers batches")
        return (), tuple(Omission(parameter=name, reason=reason) for name in (MAX_BATCH, QUEUE_DELAY))
    requires = found.parameters[0].requires
    return (
        Parameter(
            name=MAX_BATCH, choices=sizes, requires=requires, affects="run", doc="samples that a batch may grow to"
        ),
        Parameter(
            name=QUEUE_DELAY,
            choices=_DELAYS_S,
            requires={MAX_BATCH: larger},
            affects="run",
            doc="seconds that a request may wait for others",
        ),
    ), ()


def _instances(offers: Sequence[Offer]) -> tuple[tuple[Parameter, ...], tuple[Omission, ...]]:
    threads = take(("intra_op_threads",), offers).parameters
    counts = tuple(int(count) for parameter in threads for count in parameter.choices)
    several = tuple(count for count in counts if 2 * count <= max(counts))
    if not several:
        return (), (Omission(parameter=INSTANCES, reason="the counted CPUs hold no second instance"),)
    requires = {**threads[0].requires, "intra_op_threads": several}
    doc = "sessions that serve at once: one, or as many as the counted CPUs hold at that many threads"
    return (Parameter(name=INSTANCES, choices=(1, FILL), requires=requires, affects="run", doc=doc),), ()

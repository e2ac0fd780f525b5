"""The batch policy of a server: how large a batch may grow, how long a request waits for others, how many instances run."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.batching import INSTANCES, MAX_BATCH, QUEUE_DELAY
from autotune.core.space import Offer, Omission, Parameter, Share
from autotune.core.workload import Workload
from autotune_search_spaces.knobs.choice import Choice, take

__all__ = ["POLICY", "policy"]

POLICY = (MAX_BATCH, QUEUE_DELAY, INSTANCES)

_DELAYS_S = (0.0, 0.001, 0.002, 0.005, 0.01)


def policy(offers: Sequence[Offer], workload: Workload) -> Choice:
    """Only where requests come several at once is there a policy: elsewhere nothing waits in a queue.

    Batches are those that the runtimes offer. Instances share the counted CPUs out: so many that, at the threads of each, all
    work and none waits for another, or fewer.
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
    cpus = max(counts, default=1)
    several = tuple(count for count in counts if 2 * count <= cpus)
    if not several:
        return (), (Omission(parameter=INSTANCES, reason="the counted CPUs hold no second instance"),)
    return (
        Parameter(
            name=INSTANCES,
            choices=_even_shares(several, cpus),
            requires={**threads[0].requires, "intra_op_threads": several},
            share=Share(by="intra_op_threads", total=cpus),
            affects="run",
            doc="sessions that serve at once, each with threads of its own; together no more than the counted CPUs",
        ),
    ), ()


def _even_shares(threads: Sequence[int], cpus: int) -> tuple[int, ...]:
    """For each count of threads, the divisors of the instances that fill the CPUs: half of them fill half, and so on."""
    filling = {cpus // count for count in threads}
    return tuple(sorted({part for most in filling for part in range(1, most + 1) if most % part == 0}))

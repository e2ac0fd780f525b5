"""What offers are gathered in, and the parameters that every runtime on a CPU has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from autotune.core.candidate import Scalar
from autotune.core.model import BatchAxis
from autotune.core.space import Affects, Omission, Parameter

__all__ = ["BATCH_SIZES", "Choices", "offer_batch", "thread_counts"]

BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64)


@dataclass
class Choices:
    """Parameters and omissions as they are gathered."""

    parameters: list[Parameter] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)

    def add(
        self, name: str, choices: Sequence[Scalar], affects: Affects, doc: str, **requires: Sequence[Scalar]
    ) -> None:
        """Offer a parameter, under these values of others."""
        needed = {other: tuple(values) for other, values in requires.items()}
        parameter = Parameter(name=name, choices=tuple(choices), requires=needed, affects=affects, doc=doc)
        self.parameters.append(parameter)

    def omit(self, name: str, reason: str, *values: Scalar) -> None:
        """Leave a parameter out, or these of its values."""
        self.omissions.append(Omission(parameter=name, values=values, reason=reason))


def offer_batch(found: Choices, batch: BatchAxis, largest: int | None = None) -> None:
    """Offer ``batch_size`` where batch 2 was seen to work. ``largest``: what the model says of it; None: nothing."""
    if batch.works:
        sizes = [size for size in BATCH_SIZES if largest is None or size <= largest]
        found.add("batch_size", sizes, "run", "samples a run, where the load allows it")
    else:
        found.omit("batch_size", batch.reason)


def thread_counts(cpus: int) -> tuple[int, ...]:
    """Powers of two up to ``cpus``, and ``cpus`` itself."""
    return tuple(sorted({2**power for power in range(cpus.bit_length())} | {cpus}))

"""Requests of several sizes, as a load that mixes shapes sends them, made again from a folder's samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from autotune.core.model import ModelFacts
from autotune.core.samples import Requests, Tensors
from autotune.core.workload import Phase, Workload
from autotune.replay.facts import symbols_of

__all__ = ["lacking", "mixed_requests", "mixes"]

_SAMPLES = 32  # different inputs in turn, as in the search


def mixes(workload: Workload) -> bool:
    """Whether some phase sends requests of sizes that it names."""
    return any(phase.shapes for phase in workload.phases)


def lacking(workload: Workload, facts: ModelFacts) -> list[str]:
    """Dimensions that the workload's shapes size and the model's inputs do not name (any more)."""
    named = symbols_of(facts)
    return sorted({name for phase in workload.phases for shape in phase.shapes for name in shape.dims} - named)


def mixed_requests(phase: Phase, inputs: Sequence[Tensors], batch: int, facts: ModelFacts) -> Requests:
    """Requests of each shape in its share, evenly spread; ``inputs`` (of batch 1) of its sizes, else generated ones.

    What a request costs depends on its size, hardly on its values.
    """
    from autotune.data import batches_at, mixed_order

    samples = _Samples(inputs, facts)
    order = mixed_order([shape.weight for shape in phase.shapes])
    streams = [
        batches_at(samples, range(len(samples)), facts, shape.dims, batch, varying=True)[0] for shape in phase.shapes
    ]
    sent = [position for _ in range(max(_SAMPLES // (len(order) * batch), 1)) for position in order]
    return Requests(
        key=f"{phase.scenario}-batch{batch}",
        inputs=tuple(next(streams[position]) for position in sent),
        items=batch,
        shapes=tuple(phase.shapes[position].label for position in sent) if len(phase.shapes) > 1 else (),
        cycle=len(order),
    )


@dataclass(frozen=True)
class _Samples:
    """Requests of batch 1 as a data set: without the batch axis, where the model has one."""

    inputs: Sequence[Tensors]
    facts: ModelFacts

    def __len__(self) -> int:
        return len(self.inputs)

    def sample(self, index: int) -> tuple[dict[str, NDArray[Any]], Any]:
        """The request's arrays, and no label."""
        from autotune.data import has_batch

        first = has_batch(self.facts)
        return {name: array[0] if first else array for name, array in self.inputs[index].items()}, None

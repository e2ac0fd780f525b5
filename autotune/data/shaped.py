"""Requests of given sizes, for a load that mixes several shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, cycle, islice

from autotune.core.model import ModelFacts
from autotune.core.samples import Tensors
from autotune.data.batch_axis import has_batch
from autotune.data.dataset import Dataset, Sample
from autotune.data.generated import GeneratedDataset, at_sizes
from autotune.data.stacking import stacked

__all__ = ["batches_at", "mixed_order"]

_LOOKED_AT = 256  # samples at most, to find some of a size: reading them costs time
_LONGEST_CYCLE = 32  # requests
_SHARE_ERROR = 0.005
_SEED = 0  # of made-up requests: they are timed, and nothing else


def mixed_order(weights: Sequence[float]) -> tuple[int, ...]:
    """Return the order of requests in one cycle: an index into ``weights`` each, every index at least once.

    The shortest cycle, of at most 32 requests, that gives each its share within 0.005, if one does. Equal ones are spread
    evenly: the next is always the one furthest behind its share (smooth weighted round robin, as in nginx).
    """
    total = sum(weights)
    shares = [weight / total for weight in weights]
    lengths = range(len(weights), max(_LONGEST_CYCLE, len(weights)) + 1)
    orders = (_spread(_counts(shares, length)) for length in lengths)
    best = next((order for order in orders if _error(order, shares) <= _SHARE_ERROR), None)
    return best if best is not None else _spread(_counts(shares, lengths[-1]))


def batches_at(
    dataset: Dataset, indices: Sequence[int], model: ModelFacts, dims: Mapping[str, int], batch: int, *, varying: bool
) -> tuple[Iterator[Tensors], bool]:
    """Return requests of ``batch`` samples with those sizes, without end, and whether they are the data's own.

    ``varying`` False: all of the data are of one size. Where the data (the first 256 of ``indices``) hold none of these
    sizes, they are generated: what a request costs depends on its size, hardly on its values.
    """
    target = at_sizes(model, dims)
    fitting = _fitting(dataset, indices, target, varying=varying)
    if fitting:
        samples = (dataset.sample(index)[0] for index in cycle(fitting))
    else:
        generated = GeneratedDataset(target, _SEED)
        samples = (generated.sample(index)[0] for index in count())
    return _batched(samples, batch, stack=has_batch(model)), bool(fitting)


def _batched(samples: Iterator[Tensors], batch: int, *, stack: bool) -> Iterator[Tensors]:
    while True:
        yield stacked(list(islice(samples, batch))) if stack else next(samples)


def _fitting(dataset: Dataset, indices: Sequence[int], target: ModelFacts, *, varying: bool) -> Sequence[int]:
    if varying:
        return [index for index in indices[:_LOOKED_AT] if _has_sizes(dataset.sample(index), target)]
    return indices if _has_sizes(dataset.sample(indices[0]), target) else ()


def _has_sizes(sample: Sample, model: ModelFacts) -> bool:
    """Whether every named axis of every input is of the model's size."""
    for one in model.inputs:
        if one.shape is None:
            return False
        needed = one.shape[1:] if has_batch(model) else one.shape
        named = zip(sample[0][one.name].shape, needed, strict=True)
        if any(isinstance(dim, str) and model.dims.get(dim) != size for size, dim in named):
            return False
    return True


def _counts(shares: Sequence[float], length: int) -> list[int]:
    """``length`` requests shared out by largest remainder, one each at least."""
    exact = [share * length for share in shares]
    counts = [max(1, int(number)) for number in exact]
    while sum(counts) < length:
        behind = max(range(len(counts)), key=lambda index: exact[index] - counts[index])
        counts[behind] += 1
    while sum(counts) > length:
        ahead = max((i for i in range(len(counts)) if counts[i] > 1), key=lambda index: counts[index] - exact[index])
        counts[ahead] -= 1
    return counts


def _spread(counts: Sequence[int]) -> tuple[int, ...]:
    total, behind, order = sum(counts), [0] * len(counts), []
    for _ in range(total):
        behind = [lag + number for lag, number in zip(behind, counts, strict=True)]
        chosen = max(range(len(behind)), key=behind.__getitem__)
        behind[chosen] -= total
        order.append(chosen)
    return tuple(order)


def _error(order: Sequence[int], shares: Sequence[float]) -> float:
    return max(abs(order.count(index) / len(order) - share) for index, share in enumerate(shares))

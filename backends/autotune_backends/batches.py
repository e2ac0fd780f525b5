"""Whether two samples in one run give what they give in two: every backend tries that once, on generated inputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from autotune.core.model import ModelFacts
from autotune.core.samples import Tensors

__all__ = ["compare_rows", "differing_rows", "generated"]

_SEED = 0
_EXACT, _HALF, _QUANTISED = 1e-3, 2e-2, 1e-1
"""Largest difference allowed, relative to the output's largest value. Sums are taken in another order at batch 2;
a model that quantises its activations scales them by the whole batch."""


def differing_rows(model: ModelFacts, run: Callable[[Tensors], Tensors]) -> str:
    """Say how a run of batch 2 differs from two of batch 1; ``""`` when it does not. Raises what ``run`` raises, and
    ``UserError`` where no inputs can be generated.
    """
    one, other = generated(model, 0, 1)
    (both,) = generated(model, 0, 1, batch=2)
    first, second = run(one), run(other)
    return compare_rows(run(both), first, second, _tolerance(model, first))


def generated(model: ModelFacts, *samples: int, batch: int = 1) -> list[Tensors]:
    """Generated inputs of these samples, so many in a batch. Raises ``UserError`` where none can be generated."""
    from autotune.data import batches, open_data, open_dataset

    dataset = open_dataset(open_data(None, model, _SEED), model)
    return [inputs for inputs, _ in batches(dataset, samples, model, batch=batch)]


def compare_rows(both: Tensors, first: Tensors, second: Tensors, tolerance: float) -> str:
    """Say how the outputs of two samples in one run differ from those of two runs; ``""`` when they do not."""
    for name, rows in both.items():
        expected = [first[name], second[name]]
        if any(part.ndim == 0 or part.shape[0] != 1 for part in expected) or rows.shape[:1] != (2,):
            return f"output {name!r} has no batch axis: {first[name].shape} for one sample, {rows.shape} for two"
        if any(part.shape[1:] != rows.shape[1:] for part in expected):
            return f"output {name!r} has a shape that depends on the values"
        if not _close(rows, np.concatenate(expected), tolerance):
            return f"output {name!r} for two samples in one run differs from that of two runs"
    return ""


def _tolerance(model: ModelFacts, outputs: Tensors) -> float:
    if model.quantised:
        return _QUANTISED
    return _HALF if any(array.dtype == np.float16 for array in outputs.values()) else _EXACT


def _close(found: NDArray[np.generic], expected: NDArray[np.generic], tolerance: float) -> bool:
    if found.dtype.kind != "f":
        return bool(np.array_equal(found, expected))
    scale = float(np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0))
    return bool(np.allclose(found, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True))

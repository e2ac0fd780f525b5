"""``samples.npz``: a few inputs and what the original answered, so that a folder can be checked by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from autotune.core.errors import UserError
from autotune.core.samples import Tensors

__all__ = ["MAX_SAMPLES", "ReplaySamples", "collect_samples", "read_samples", "write_samples"]

MAX_SAMPLES = 64


@dataclass(frozen=True)
class ReplaySamples:
    """``inputs[i]`` is one request as the session takes it (a batch axis of 1 where the model has one), ``outputs[i]`` what
    the original answered. ``labels`` None: there are none.
    """

    inputs: tuple[Tensors, ...]
    outputs: tuple[Tensors, ...]
    labels: tuple[Any, ...] | None = None

    def __len__(self) -> int:
        return len(self.inputs)


def collect_samples(
    batches: Iterable[tuple[Tensors, Sequence[Any]]], original: Callable[[Tensors], Tensors], limit: int = MAX_SAMPLES
) -> ReplaySamples:
    """Ask the original for its outputs for the first ``limit`` requests of ``batches`` (batch 1), with their labels.

    Requests whose shapes differ from the commonest ones are left out: the file holds one array a tensor.
    """
    taken: list[tuple[Tensors, Tensors, Any]] = []
    for inputs, labels in batches:
        if len(taken) == limit:
            break
        taken.append((inputs, original(inputs), labels[0] if labels else None))
    common = Counter(_signature(*one[:2]) for one in taken).most_common(1)
    kept = [one for one in taken if _signature(*one[:2]) == common[0][0]]
    labelled = bool(kept) and all(label is not None for *_, label in kept)
    return ReplaySamples(
        inputs=tuple(inputs for inputs, _, _ in kept),
        outputs=tuple(outputs for _, outputs, _ in kept),
        labels=tuple(label for *_, label in kept) if labelled else None,
    )


def write_samples(file: Path, samples: ReplaySamples) -> None:
    """Write ``samples`` as the exported folder's ``run.py`` reads them; nothing is pickled."""
    from autotune.replay.standalone import array_name, to_file

    arrays: dict[str, Any] = {}
    for prefix, requests in (("input:", samples.inputs), ("output:", samples.outputs)):
        for name in requests[0] if requests else ():
            stacked = np.stack([np.asarray(request[name]) for request in requests])
            arrays[array_name(prefix, name)] = to_file(stacked)
    if samples.labels is not None:
        arrays["labels"] = to_file(np.asarray(samples.labels))
    np.savez_compressed(file, **arrays)


def read_samples(file: Path) -> ReplaySamples:
    """Read what ``write_samples`` wrote. Raises ``UserError`` when the file is damaged."""
    from autotune.data.arrays import UNREADABLE
    from autotune.replay.standalone import read_samples as read

    remedy = "export the folder again, or restore it from a copy"
    try:
        if not is_zipfile(file):
            raise UserError(f"{file} is damaged: it is no .npz file", remedy)
        inputs, outputs, labels = read(file)
    except (*UNREADABLE, KeyError) as error:
        words = next(iter(str(error).splitlines()), type(error).__name__)
        raise UserError(f"{file} is damaged: {words}", remedy) from error
    return ReplaySamples(tuple(inputs), tuple(outputs), None if labels is None else tuple(labels))


def _signature(*groups: Tensors) -> tuple[tuple[str, tuple[int, ...], str], ...]:
    return tuple(
        (name, np.shape(array), np.asarray(array).dtype.kind)
        for group in groups
        for name, array in sorted(group.items())
    )

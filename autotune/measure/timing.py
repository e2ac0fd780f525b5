"""The timing loop: the only place where a clock is read around an inference."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from time import perf_counter_ns

import numpy as np
from numpy.typing import NDArray

__all__ = ["no_garbage_collection", "time_round"]


def time_round(calls: Sequence[Callable[[], object]], count: int, start: int = 0) -> NDArray[np.float64]:
    """Return the seconds that each of ``count`` calls took, shape ``[count]``, taking ``calls`` in turn from ``start`` on.

    A call's time is the difference of two consecutive clock readings, so that the sum is the round's wall time; the loop
    itself adds about 0.1 µs to each. Garbage collection waits until the round is over.
    """
    stamps = np.empty(count + 1, dtype=np.int64)
    with no_garbage_collection():
        stamps[0] = perf_counter_ns()
        for index, call in enumerate(islice(_in_turn(calls, start), count), 1):
            call()
            stamps[index] = perf_counter_ns()
    return np.diff(stamps) * 1e-9


def _in_turn(calls: Sequence[Callable[[], object]], start: int) -> Iterator[Callable[[], object]]:
    index = start % len(calls)
    while True:
        yield calls[index]
        index = (index + 1) % len(calls)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Collect garbage now, and not again before the block ends."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

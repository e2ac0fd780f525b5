"""A dynamic batcher: requests that arrive one by one run together. Needs numpy alone; exported folders hold this very file.

    batcher = Batcher([model.run], max_batch=8, delay_s=0.002)
    outputs = batcher.infer({"input": array})          # blocks; any number of threads may call it
    future = batcher.submit({"input": array})          # does not block

One worker thread an instance takes the waiting requests, joins them along the first axis, runs, and splits the outputs. A batch
leaves when it is full, or when its oldest request has waited for ``delay_s`` and an instance is idle: the policy of Triton's
dynamic batcher (``max_queue_delay_microseconds``).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

__all__ = ["Batcher", "QueueFullError"]

Arrays = Mapping[str, Any]


class QueueFullError(RuntimeError):
    """The queue is full: the request was dropped."""


@dataclass
class _Request:
    inputs: Arrays
    rows: int
    kind: tuple[Any, ...]
    arrived_s: float
    future: Future[Any] = field(default_factory=Future)


class Batcher:
    """Serves requests through ``runners``, one an instance: functions from arrays by input name to arrays by output name.

    ``max_batch`` counts rows of the first axis; a request that has more runs alone. ``delay_s``: how long a request may wait
    for others. ``priorities``: levels, 0 the most urgent; within a level requests are served in order. ``queue_limit``: waiting
    requests beyond which further ones are dropped, None: none are.
    ``batches`` holds the rows of each batch that was run, ``busy_s`` the seconds that instances worked, all together.
    """

    def __init__(
        self,
        runners: Sequence[Callable[[dict[str, Any]], Arrays]],
        *,
        max_batch: int = 1,
        delay_s: float = 0.0,
        priorities: int = 1,
        queue_limit: int | None = None,
    ) -> None:
        self.max_batch, self.delay_s, self.queue_limit = max_batch, delay_s, queue_limit
        self.batches: list[int] = []
        self.busy_s = 0.0
        self._levels: list[deque[_Request]] = [deque() for _ in range(priorities)]
        self._rows = self._waiting = 0
        self._closed = False
        self._changed = threading.Condition()
        self._workers = [threading.Thread(target=self._work, args=(run,), daemon=True) for run in runners]
        for worker in self._workers:
            worker.start()

    def infer(self, inputs: Arrays, priority: int = 0) -> dict[str, Any]:
        """Run one request and return its outputs by name. Raises ``QueueFullError``, or whatever the run raised."""
        outputs: dict[str, Any] = self.submit(inputs, priority).result()
        return outputs

    def submit(self, inputs: Arrays, priority: int = 0) -> Future[Any]:
        """Queue one request; the future gives its outputs. Raises ``QueueFullError`` when the queue is full."""
        request = _Request(inputs, _rows(inputs), _kind(inputs), time.perf_counter())
        with self._changed:
            if self._closed:
                raise RuntimeError("the batcher was closed")
            if self.queue_limit is not None and self._waiting >= self.queue_limit:
                raise QueueFullError(f"{self._waiting} requests are waiting already")
            self._levels[priority].append(request)
            self._waiting += 1
            self._rows += request.rows
            if self._waiting == 1 or self._rows >= self.max_batch:
                self._changed.notify()
        return request.future

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        return self._waiting

    def close(self, *, drop: bool = False) -> None:
        """Serve what is waiting (``drop``: cancel it instead), then stop. Closing again does nothing."""
        with self._changed:
            self._closed = True
            dropped = [request for level in self._levels for request in level] if drop else []
            if drop:
                self._forget()
            self._changed.notify_all()
        for request in dropped:
            request.future.cancel()
        for worker in self._workers:
            worker.join()

    def __enter__(self) -> Batcher:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _forget(self) -> None:
        for level in self._levels:
            level.clear()
        self._waiting = self._rows = 0

    def _work(self, run: Callable[[dict[str, Any]], Arrays]) -> None:
        while batch := self._next():
            began = time.perf_counter()
            _answer(run, batch)
            took = time.perf_counter() - began
            with self._changed:
                self.busy_s += took
                self.batches.append(sum(request.rows for request in batch))

    def _next(self) -> list[_Request]:
        """Wait for a batch that may leave; empty once the batcher is closed and nothing waits."""
        with self._changed:
            while True:
                if not self._waiting:
                    if self._closed:
                        return []
                    self._changed.wait()
                    continue
                left = self._oldest_s() + self.delay_s - time.perf_counter()
                if left <= 0 or self._rows >= self.max_batch or self._closed:
                    return self._take()
                self._changed.wait(left)

    def _oldest_s(self) -> float:
        return min(level[0].arrived_s for level in self._levels if level)

    def _take(self) -> list[_Request]:
        """The next batch: urgent requests first, of one kind (names, types and sizes beyond the first axis)."""
        batch: list[_Request] = []
        rows = 0
        for level in self._levels:
            while level and _fits(batch, rows, level[0], self.max_batch):
                batch.append(level.popleft())
                rows += batch[-1].rows
            if level:
                break
        self._waiting -= len(batch)
        self._rows -= rows
        if self._waiting:
            self._changed.notify()
        return batch


def _fits(batch: list[_Request], rows: int, request: _Request, max_batch: int) -> bool:
    return not batch or (rows + request.rows <= max_batch and request.kind == batch[0].kind)


def _rows(inputs: Arrays) -> int:
    shape = np.shape(next(iter(inputs.values())))
    return shape[0] if shape else 1


def _kind(inputs: Arrays) -> tuple[Any, ...]:
    return tuple((name, array.dtype, array.shape[1:]) for name, array in sorted(inputs.items()))


def _answer(run: Callable[[dict[str, Any]], Arrays], batch: list[_Request]) -> None:
    """Run a batch and resolve its futures, with the run's exception where it fails."""
    live = [request for request in batch if request.future.set_running_or_notify_cancel()]
    try:
        answers = _run(run, live)
    except Exception as error:  # whatever a runtime raises belongs to those who asked
        for request in live:
            request.future.set_exception(error)
        return
    for request, answer in zip(live, answers, strict=True):
        request.future.set_result(answer)


def _run(run: Callable[[dict[str, Any]], Arrays], batch: list[_Request]) -> list[Arrays]:
    if len(batch) <= 1:
        return [run(dict(request.inputs)) for request in batch]
    names = batch[0].inputs
    joined = {name: np.concatenate([request.inputs[name] for request in batch], axis=0) for name in names}
    return _split(run(joined), [request.rows for request in batch])


def _split(outputs: Arrays, rows: Sequence[int]) -> list[Arrays]:
    """The outputs of each request, as views. Raises ``ValueError`` when an output has not one row a row of the inputs."""
    edges = np.cumsum([0, *rows])
    for name, array in outputs.items():
        if not array.shape or array.shape[0] != edges[-1]:
            raise ValueError(f"output {name!r} has shape {array.shape}: not one row for each of {edges[-1]}")
    return [{name: array[low:high] for name, array in outputs.items()} for low, high in pairwise(edges)]

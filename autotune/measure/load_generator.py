"""Puts a batcher under load, inside the session's process, and takes the time of every request.

The open loop's arrivals are scheduled ahead. A request's latency counts from its scheduled arrival, not from when it could be
sent, so that a stalled server cannot hide the requests that should have come meanwhile (coordinated omission: Tene, "How NOT to
Measure Latency", 2013). What the generator itself was late by is reported beside it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count
from time import perf_counter, process_time, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.samples import Tensors
from autotune.core.serving import ClosedLoop, Load, OpenLoop, Served, StoppedLoad
from autotune.measure.lifetime import peak_memory_bytes, sleep_exactly
from autotune.measure.timing import no_garbage_collection
from autotune.serving.batcher import Batcher, QueueFullError

__all__ = ["serve"]

Runner = Callable[[Tensors], Mapping[str, Any]]

_LEAD_S = 0.02  # from the decision to start to the first scheduled second
_POLL_S = 0.05  # how often waiting for the last answers looks at the clock


def serve(runners: Sequence[Runner], inputs: Sequence[Tensors], load: Load) -> Served:
    """Send ``inputs`` in turn under ``load``; ``runners`` are the instances. Raises what a run raised."""
    return _Open(runners, inputs, load).run() if isinstance(load, OpenLoop) else _closed(runners, inputs, load)


class _Open:
    """One open loop. Answers are noted by the batcher's threads, each in a place of its own."""

    def __init__(self, runners: Sequence[Runner], inputs: Sequence[Tensors], load: OpenLoop) -> None:
        requests = len(load.arrivals_s)
        self._load, self._inputs, self._runners = load, inputs, runners
        self._latency_s = np.full(requests, np.inf)
        self._lag_s = np.zeros(requests)
        self._priorities = np.zeros(requests, dtype=np.int64) if load.priorities is None else load.priorities
        self._answered = self._over = 0
        self._dropped: list[int] = []
        self._error: BaseException | None = None
        self._noting = threading.Lock()

    def run(self) -> Served:
        sleep_exactly()
        load, cpu = self._load, process_time()
        batcher = Batcher(
            self._runners,
            max_batch=load.policy.max_batch,
            delay_s=load.policy.delay_s,
            priorities=int(self._priorities.max(initial=0)) + 1,
            queue_limit=load.queue_limit,
        )
        with no_garbage_collection():
            start = perf_counter() + _LEAD_S
            sent, stopped = self._send(batcher, start)
            stopped = stopped or self._drain(sent, start)
            wall = perf_counter() - start
            unanswered = self._unanswered(sent, wall)
            batcher.close(drop=stopped is not None)
        if self._error is not None:
            raise self._error
        return Served(
            arrivals_s=load.arrivals_s[:sent],
            latency_s=np.where(unanswered, wall - load.arrivals_s[:sent], self._latency_s[:sent]),
            lag_s=self._lag_s[:sent],
            batch_rows=np.asarray(batcher.batches, dtype=np.int64),
            busy_s=batcher.busy_s,
            wall_s=wall,
            instances=len(self._runners),
            dropped=len(self._dropped),
            unanswered=int(unanswered.sum()),
            stopped=stopped,
            cpu_s=process_time() - cpu,
            memory_bytes=peak_memory_bytes(),
        )

    def _send(self, batcher: Batcher, start: float) -> tuple[int, StoppedLoad | None]:
        """Submit each request when it is due; return how many were sent, and why no more."""
        for index, arrival in enumerate(self._load.arrivals_s.tolist()):
            due = start + arrival
            while (early := due - perf_counter()) > 0:
                sleep(early)
            self._lag_s[index] = perf_counter() - due
            self._submit(batcher, index, due)
            if stopped := self._hopeless(index + 1, start):
                return index + 1, stopped
        return len(self._latency_s), None

    def _unanswered(self, sent: int, wall: float) -> NDArray[np.bool_]:
        """Which requests had no answer by then, dropped ones apart."""
        late = self._latency_s[:sent] + self._load.arrivals_s[:sent] > wall
        late[self._dropped] = False
        return np.asarray(late)

    def _submit(self, batcher: Batcher, index: int, due: float) -> None:
        try:
            future = batcher.submit(self._inputs[index % len(self._inputs)], int(self._priorities[index]))
        except QueueFullError:
            self._dropped.append(index)
            with self._noting:
                self._answered += 1
            return
        future.add_done_callback(lambda done: self._note(index, due, done))

    def _note(self, index: int, due: float, done: Any) -> None:
        now = perf_counter()
        if done.cancelled():
            return
        error = done.exception()
        with self._noting:
            self._answered += 1
            self._error = self._error or error
            self._latency_s[index] = now - due
            bound = self._load.give_up.bound_s
            self._over += bound is not None and now - due > bound

    def _hopeless(self, sent: int, start: float) -> StoppedLoad | None:
        """Why to end the load now. The oldest request that is still waiting arrived about as many ago as are unanswered."""
        give_up = self._load.give_up
        if self._error is not None:
            return "over"
        if give_up.bound_s is not None and self._over > give_up.most_over:
            return "over"
        if self._answered >= sent:
            return None
        oldest = start + self._load.arrivals_s[self._answered]
        return "saturated" if perf_counter() - oldest > give_up.longest_wait_s else None

    def _drain(self, sent: int, start: float) -> StoppedLoad | None:
        """Wait for the last answers."""
        while self._answered < sent:
            if stopped := self._hopeless(sent, start):
                return stopped
            sleep(min(_POLL_S, 0.001 + (sent - self._answered) * 1e-4))
        return None


def _closed(runners: Sequence[Runner], inputs: Sequence[Tensors], load: ClosedLoop) -> Served:
    """Each client in a thread of its own: directly on the first session, or through a batcher."""
    cpu, logs = process_time(), list[list[tuple[float, float]]]([] for _ in range(load.streams))
    errors: list[BaseException] = []
    turns = count()
    with ExitStack() as stack, no_garbage_collection():
        call, batcher = _way_in(stack, runners, load)
        start = perf_counter()

        def client(log: list[tuple[float, float]]) -> None:
            try:
                while (sent := perf_counter()) - start < load.duration_s and not errors:
                    call(inputs[next(turns) % len(inputs)])
                    log.append((sent - start, perf_counter() - sent))
            except Exception as error:  # a runtime's own, raised again in the thread that asked
                errors.append(error)

        _run_all([partial(client, log) for log in logs])
        wall = perf_counter() - start
    if errors:
        raise errors[0]
    taken = np.asarray(sorted(entry for log in logs for entry in log)).reshape(-1, 2)
    instances = load.streams if batcher is None else len(runners)
    return Served(
        arrivals_s=taken[:, 0],
        latency_s=taken[:, 1],
        lag_s=np.zeros(len(taken)),
        batch_rows=_rows(batcher, len(taken)),
        busy_s=float(taken[:, 1].sum()) if batcher is None else batcher.busy_s,
        wall_s=wall,
        instances=instances,
        cpu_s=process_time() - cpu,
        memory_bytes=peak_memory_bytes(),
    )


def _way_in(stack: ExitStack, runners: Sequence[Runner], load: ClosedLoop) -> tuple[Runner, Batcher | None]:
    if load.policy is None:
        return runners[0], None
    policy = load.policy
    batcher = stack.enter_context(Batcher(runners, max_batch=policy.max_batch, delay_s=policy.delay_s))
    return batcher.infer, batcher


def _rows(batcher: Batcher | None, requests: int) -> NDArray[np.int64]:
    return np.ones(requests, dtype=np.int64) if batcher is None else np.asarray(batcher.batches, dtype=np.int64)


def _run_all(calls: Sequence[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=call, daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

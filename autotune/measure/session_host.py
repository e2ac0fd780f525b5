"""The process that a session lives in: ``python -m autotune.measure.session_host FD PARENT``.

Reads messages (``wire``) from the socket ``FD`` until it closes. It imports little: its memory and start are measured.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from multiprocessing.connection import Connection
from time import perf_counter, process_time
from typing import Any, Protocol

from autotune.core.samples import Requests, Tensors
from autotune.core.serving import Load, Served
from autotune.measure import wire
from autotune.measure.causes import cause_of_error
from autotune.measure.lifetime import die_with_parent, involuntary_switches, peak_memory_bytes, run_delay_s
from autotune.measure.timing import time_round

__all__ = ["LocalSession", "main"]


class LocalSession(Protocol):
    """What a backend's opener returns, inside the session's process."""

    def outputs(self, inputs: Tensors) -> Tensors:
        """Run once and return every output by name."""
        ...

    def bind(self, inputs: Tensors) -> Callable[[], object]:
        """Return a call that infers once on these inputs, with nothing left to prepare: what the timing loop times."""
        ...


class _Bound:
    """Requests of one key, ready to be called; ``position`` is where the next round goes on."""

    def __init__(self, session: LocalSession, requests: Requests) -> None:
        self.calls = [session.bind(inputs) for inputs in requests.inputs]
        self.position = 0

    def time(self, count: int) -> wire.Round:
        before, cpu = _counters(), process_time()
        latency = time_round(self.calls, count, self.position)
        cpu = process_time() - cpu
        counters = {name: value - before[name] for name, value in _counters().items() if name in before}
        first, self.position = self.position, (self.position + count) % len(self.calls)
        return wire.Round(latency, cpu, peak_memory_bytes(), counters=counters, first=first)


def _counters() -> dict[str, float]:
    """Counts since the process began; those that the kernel does not tell are left out."""
    delay = run_delay_s()
    counters = {"involuntary_switches": float(involuntary_switches())}
    return counters if delay is None else {**counters, "run_delay_s": delay}


class _Host:
    """Answers one message after another."""

    def __init__(self) -> None:
        self._session: LocalSession | None = None
        self._kept: dict[str, Requests] = {}
        self._bound: dict[str, _Bound] = {}
        self._instances: list[LocalSession] = []
        self._open_again: Callable[[], LocalSession] | None = None

    def answer(self, message: Any) -> Any:
        """Return the answer to a message; None: it has none."""
        match message:
            case wire.Open():
                return self._open(message)
            case wire.Keep(requests):
                self._kept[requests.key] = requests
                return None
            case wire.Outputs(inputs):
                return wire.Answered(dict(self._live().outputs(inputs)))
            case wire.Run(key, count):
                return self._requests(key).time(count)
            case wire.Serve(key, load):
                return self._serve(key, load)
        raise TypeError(f"no message: {message!r}")

    def _open(self, message: wire.Open) -> wire.Opened:
        module, _, function = message.opener.partition(":")
        opener = getattr(import_module(module), function)
        started = perf_counter()
        self._session = opener(message.artifact, message.device)
        self._instances = [self._session]
        self._open_again = lambda: opener(message.artifact, message.device)
        return wire.Opened(perf_counter() - started)

    def _live(self) -> LocalSession:
        if self._session is None:
            raise RuntimeError("nothing was opened yet")
        return self._session

    def _requests(self, key: str) -> _Bound:
        if key not in self._bound:
            self._bound[key] = _Bound(self._live(), self._kept[key])
        return self._bound[key]

    def _serve(self, key: str, load: Load) -> Served:
        """Under a load, in this very process: no pipe stands between a request's arrival and its answer."""
        from autotune.measure.load_generator import serve

        wanted = load.policy.instances if load.policy is not None else 1
        self._live()
        while len(self._instances) < wanted:
            assert self._open_again is not None
            self._instances.append(self._open_again())
        return serve([one.outputs for one in self._instances[:wanted]], self._kept[key].inputs, load)


def main(fd: int, parent: int) -> None:
    """Serve until the other side closes the socket."""
    die_with_parent(parent)
    os.set_inheritable(fd, False)
    connection, host = Connection(fd), _Host()
    while True:
        try:
            message = wire.receive(connection)
        except (EOFError, OSError):
            return
        answer = _answer_or_problem(host, message)
        if answer is not None:
            wire.send(connection, answer)


def _answer_or_problem(host: _Host, message: Any) -> Any:
    try:
        return host.answer(message)
    except Exception as error:  # whatever a runtime raises is this candidate's failure; its owner decides
        traceback.print_exc()
        return wire.Problem(*cause_of_error(error))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
    sys.stderr.flush()
    os._exit(0)  # a runtime's destructors may hang or crash, and nothing is left to do

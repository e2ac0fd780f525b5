"""A session in a process of its own: the owner's side."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from multiprocessing.connection import Connection
from types import TracebackType
from typing import IO, Any, Self

from autotune.core.artifact import Artifact
from autotune.core.device import DeviceSpec
from autotune.core.errors import MeasureError, OpenError, TrialError
from autotune.core.samples import Requests, Samples, Tensors
from autotune.core.serving import Load, Served
from autotune.core.units import format_duration
from autotune.measure import wire
from autotune.measure.causes import cause_of_exit
from autotune.measure.lifetime import oom_kills

__all__ = ["SessionProcess"]

_TAIL_BYTES = 8192
_LAST_WORDS_S = 10.0  # between closing its socket and ending, a crashing process writes its core file


class SessionProcess:
    """Implements ``core.ports.ServingSession``. Entering it starts the process and opens the artifact there; leaving kills it.

    ``opener`` is ``"module:function"``, called there as ``function(artifact, device) -> LocalSession``
    (see ``session_host``). ``load_time_s`` is how long that call took; None before it was entered.
    ``limit_s`` is how long an answer may take; None: without end, for an owner whose own process has a time limit.
    The process leads a process group of its own, and dies with the thread that entered it.
    """

    def __init__(self, opener: str, artifact: Artifact, device: DeviceSpec, limit_s: float | None = None) -> None:
        self._limit_s = limit_s
        self._open_message = wire.Open(opener, artifact, device)
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._stderr: IO[bytes] | None = None
        self._oom_kills_before = 0
        self._kept: set[str] = set()
        self.load_time_s: float | None = None

    def __enter__(self) -> Self:
        """Raises ``OpenError`` with the true cause when the artifact cannot be opened."""
        try:
            self._start()
            opened: wire.Opened = self._ask(self._open_message, OpenError)
        except BaseException:
            self._end()
            raise
        self.load_time_s = opened.load_time_s
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def pid(self) -> int | None:
        """The process, None while there is none."""
        return self._process.pid if self._process else None

    def outputs(self, inputs: Tensors) -> Tensors:
        """Run once and return every output by name. Raises ``MeasureError``."""
        answered: wire.Answered = self._ask(wire.Outputs(dict(inputs)))
        return answered.outputs

    def run(self, requests: Requests, count: int) -> Samples:
        """One round: ``count`` requests, one after another. Raises ``MeasureError``."""
        self._keep(requests)
        taken: wire.Round = self._ask(wire.Run(requests.key, count))
        return Samples(
            latency_s=taken.latency_s,
            items=requests.items,
            wall_s=float(taken.latency_s.sum()),
            cpu_s=taken.cpu_s,
            memory_bytes=taken.memory_bytes,
            energy_j=taken.energy_j,
            counters=taken.counters,
            first=taken.first,
        )

    def serve(self, requests: Requests, load: Load) -> Served:
        """Put it under a load; batcher and generator live in its process. Raises ``MeasureError``."""
        self._keep(requests)
        served: Served = self._ask(wire.Serve(requests.key, load))
        return served

    def pause(self) -> None:
        """Stop the whole process group, and return when the process has stopped (or ended)."""
        self._signal(signal.SIGSTOP)
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, self._live().pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self) -> None:
        """Go on after ``pause``."""
        self._signal(signal.SIGCONT)

    def _keep(self, requests: Requests) -> None:
        if requests.key not in self._kept:
            self._send(wire.Keep(requests), MeasureError)
            self._kept.add(requests.key)

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 -- closed in _end
        self._oom_kills_before = oom_kills()
        with theirs:
            self._connection = Connection(ours.detach())
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "autotune.measure.session_host", str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=self._stderr,
                stderr=self._stderr,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._stderr is not None:
            self._stderr.close()
        self._process = self._connection = self._stderr = None
        self._kept.clear()

    def _live(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("the session is not open: use it inside its `with`")
        return self._process

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._live().pid, number)

    def _send(self, message: Any, failure: type[TrialError]) -> None:
        self._live()
        assert self._connection is not None
        try:
            wire.send(self._connection, message)
        except OSError:
            raise self._ended(failure) from None

    def _ask(self, message: Any, failure: type[TrialError] = MeasureError) -> Any:
        self._send(message, failure)
        assert self._connection is not None
        try:
            if not self._connection.poll(self._limit_s):
                raise self._overdue(failure)
            answer = wire.receive(self._connection)
        except (EOFError, OSError):
            raise self._ended(failure) from None
        if isinstance(answer, wire.Problem):
            raise failure(answer.cause, answer.message)
        return answer

    def _overdue(self, failure: type[TrialError]) -> TrialError:
        """End the process, which would still be at its old task when it is asked again."""
        assert self._limit_s is not None
        self._signal(signal.SIGKILL)
        return failure("timeout", f"no answer within {format_duration(self._limit_s)}")

    def _ended(self, failure: type[TrialError]) -> TrialError:
        """The error that tells why the process is gone."""
        try:
            status: int | None = self._live().wait(_LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            status = None
        return failure(*cause_of_exit(status, self._stderr_tail(), oom_kills() - self._oom_kills_before))

    def _stderr_tail(self) -> str:
        assert self._stderr is not None
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _TAIL_BYTES))
        return self._stderr.read().decode(errors="replace")

"""MLflow as a view on a search. The journal is the truth: MLflow may be away, and can be filled again from it."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.core.errors import UserError
from autotune.core.front import Front
from autotune.core.trial import TrialRecord
from autotune.runs.search_file import SearchFile
from autotune_trials.mlflow_reader import MlflowReader

if TYPE_CHECKING:
    from autotune_trials.mlflow_writer import SearchWriter

__all__ = ["MlflowTracker"]

PATIENCE_S = 0.25
"""How long a search waits for a trial to be written before it goes on. A local store takes about a tenth of it, and
then nothing is written while the next trial is measured."""


class MlflowTracker:
    """Implements ``core.ports.Tracker``. One thread imports mlflow and does all writing, in order.

    ``uri`` None: MLFLOW_TRACKING_URI, else MLflow's default in the current folder. When the store is away, ``say`` gets
    one line, nothing more is written, and ``sync`` does it later.
    """

    def __init__(
        self, search: SearchFile, uri: str | None, run_folder: Path, say: Callable[[str], None] | None = None
    ) -> None:
        self._search, self._asked_uri, self._folder = search, uri, run_folder
        self._say = say or _to_stderr
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mlflow")
        self._writer: SearchWriter | None = None
        self._away = self._closed = False
        self._pending: deque[Future[None]] = deque()
        self._begin(lambda _: None)

    @property
    def away(self) -> bool:
        """Whether the store was given up."""
        return self._away

    @property
    def uri(self) -> str | None:
        """The store's absolute address; None until it is ready, or when it is away."""
        return self._writer.uri if self._writer else None

    @property
    def run_id(self) -> str | None:
        """The search's own run; None until it is ready, or when it is away."""
        return self._writer.run_id if self._writer else None

    def ready(self, timeout_s: float | None = None) -> bool:
        """Wait until everything asked for so far is written (None: without end); tell whether the store is there.

        Called before the first trial, so that no set-up runs beside a measurement.
        """
        self._wait(timeout_s)
        return self._writer is not None and not self._away

    def record(self, record: TrialRecord) -> None:
        """Show one trial. Waits briefly: a slow server does not hold up the search."""
        self._begin(lambda writer: writer.record(record))
        self._wait(PATIENCE_S)

    def finish(self, front: Front, summary: str, exports: Mapping[str, Path]) -> None:
        """Show the front, and wait until it is written."""
        self._begin(lambda writer: writer.finish(front, summary, exports))
        self._wait(None)

    def close(self) -> None:
        """Write what is left and end the thread. Calling it again does nothing."""
        if self._closed:
            return
        self._closed = True
        self._begin(lambda writer: writer.close())
        self._wait(None)
        self._thread.shutdown()

    def _begin(self, work: Callable[[SearchWriter], None]) -> None:
        self._pending.append(self._thread.submit(self._write, work))

    def _wait(self, timeout_s: float | None) -> None:
        """Wait for what was begun. An error that is not the store's is a bug, and is raised here."""
        until = None if timeout_s is None else time.monotonic() + timeout_s
        while self._pending:
            try:
                self._pending[0].result(None if until is None else max(0.0, until - time.monotonic()))
            except TimeoutError:
                return
            except Exception:
                self._pending.popleft()
                raise
            self._pending.popleft()

    def _write(self, work: Callable[[SearchWriter], None]) -> None:
        """Runs in the thread."""
        if self._away:
            return
        from autotune_trials.mlflow_store import StoreError
        from autotune_trials.mlflow_writer import SearchWriter

        try:
            if self._writer is None:
                self._writer = SearchWriter(self._search, self._asked_uri, self._folder)
            work(self._writer)
        except StoreError as error:
            self._away = True
            self._say(
                f"MLflow is away ({error}); the search goes on: `autotune sync {self._folder}` writes it there later"
            )

    @staticmethod
    def reader(uri: str | None = None) -> MlflowReader:
        """What people did there, read back."""
        return MlflowReader(uri)

    @staticmethod
    def log_gate(
        uri: str | None, model: str, verdict: str, metrics: Mapping[str, float], tags: Mapping[str, str], report: str
    ) -> str:
        """Log the outcome of a gate; return its run's id (see ``mlflow_gate``)."""
        from autotune_trials.mlflow_gate import log_gate

        return log_gate(uri, model, verdict, metrics, tags, report)

    @staticmethod
    def sync(
        search: SearchFile,
        records: Iterable[TrialRecord],
        front: Front | None,
        summary: str,
        exports: Mapping[str, Path],
        uri: str | None,
        run_folder: Path,
    ) -> str:
        """Write all that MLflow lacks of a search; return the id of the search's run. ``front`` None: there is none yet.

        Raises ``UserError`` when the store is away.
        """
        from autotune_trials.mlflow_store import StoreError
        from autotune_trials.mlflow_writer import SearchWriter

        try:
            writer = SearchWriter(search, uri, run_folder)
            for record in records:
                writer.record(record)
            if front is not None:
                writer.finish(front, summary, exports)
            writer.close()
        except StoreError as error:
            raise UserError(
                f"MLflow at {uri or 'its default store'}: {error}", "try again when it can be reached"
            ) from error
        return str(writer.run_id)


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

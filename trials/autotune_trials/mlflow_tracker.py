"""MLflow as a view on a search. The journal is the truth: MLflow may be away, and can be filled again from it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.core.errors import UserError
from autotune.core.front import Front
from autotune.core.trial import TrialRecord
from autotune.core.units import counted
from autotune.runs.search_file import SearchFile
from autotune_trials.backlog import Backlog
from autotune_trials.mlflow_reader import MlflowReader

if TYPE_CHECKING:
    from autotune_trials.mlflow_writer import SearchWriter

__all__ = ["END_S", "MlflowTracker"]

PATIENCE_S = 0.25
"""How long a search waits for a trial to be written before it goes on. A local store takes about a tenth of it, and
then nothing is written while the next trial is measured."""

END_S = 300.0
"""How long a search waits at its end, all in all, for what is not written yet: the models of a front may be large. A server
that is away is noticed long before; one that answers, and slowly, or never finishes a file, would hold it for ever."""

_SET_UP, _TRIAL, _FRONT, _END = "set-up", "trial", "front", "end"


class MlflowTracker:
    """Implements ``core.ports.Tracker``. One thread imports mlflow and does all writing, in order.

    ``uri`` None: MLFLOW_TRACKING_URI, else MLflow's default in the current folder. When the store is away, or has not taken
    everything within ``end_s`` of the search's end, ``say`` gets one line, nothing more is written, and ``sync`` does it later.
    """

    def __init__(
        self,
        search: SearchFile,
        uri: str | None,
        run_folder: Path,
        say: Callable[[str], None] | None = None,
        end_s: float = END_S,
    ) -> None:
        self._search, self._asked_uri, self._folder = search, uri, run_folder
        self._say = say or _to_stderr
        self._backlog = Backlog("mlflow")
        self._writer: SearchWriter | None = None
        self._away = self._closed = False
        self._end_s, self._ends_at = end_s, float("inf")
        self._begin(_SET_UP, lambda _: None)

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
        self._backlog.wait(timeout_s)
        return self._writer is not None and not self._away

    def record(self, record: TrialRecord) -> None:
        """Show one trial. Waits briefly: a slow server does not hold up the search."""
        self._begin(_TRIAL, lambda writer: writer.record(record))
        self._backlog.wait(PATIENCE_S)

    def finish(self, front: Front, summary: str, exports: Mapping[str, Path]) -> None:
        """Show the front, and wait until it is written, ``end_s`` at most."""
        self._begin(_FRONT, lambda writer: writer.finish(front, summary, exports))
        self._wait_at_the_end()

    def close(self) -> None:
        """Write what is left, within what is left of ``end_s``, and end the thread. Calling it again does nothing."""
        if self._closed:
            return
        self._closed = True
        self._begin(_END, lambda writer: writer.close())
        try:
            self._wait_at_the_end()
        finally:
            self._backlog.end()

    def _begin(self, what: str, work: Callable[[SearchWriter], None]) -> None:
        """An error that is not the store's is a bug, and is raised where the work is waited for."""
        if not self._away:
            self._backlog.add(what, lambda: self._write(work))

    def _wait_at_the_end(self) -> None:
        self._ends_at = min(self._ends_at, time.monotonic() + self._end_s)
        if self._away:
            return
        self._backlog.wait(max(0.0, self._ends_at - time.monotonic()))
        left = self._backlog.left
        if left:
            self._away = True
            self._backlog.drop()
            self._say(
                f"MLflow has not taken {_named(left)} within {self._end_s:g} s: "
                f"`autotune sync {self._folder}` writes it there later"
            )

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
            if self._away:  # given up meanwhile, which was said
                return
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


def _named(left: Sequence[str]) -> str:
    """What is not written, in a person's words."""
    parts = [counted(left.count(_TRIAL), "trial")] if _TRIAL in left else []
    parts += ["the front"] if _FRONT in left else []
    return " and ".join(parts) or "how the search ended"


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

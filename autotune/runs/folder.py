"""The run folder: made once, driven by one process at a time, read by anyone."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from autotune.core.clock import Clock, SystemClock
from autotune.core.errors import UserError
from autotune.core.front import Front
from autotune.core.trial import TrialRecord
from autotune.runs.atomic import write_atomic
from autotune.runs.journal import append_record, create_journal, mend_journal, read_journal
from autotune.runs.layout import RunLayout
from autotune.runs.lock import drive
from autotune.runs.progress import Progress, read_progress, spent_s, write_progress
from autotune.runs.search_file import SearchFile, Tracking, read_search_file
from autotune.runs.store import sweep

__all__ = ["RunFolder", "default_run_path"]


@dataclass(frozen=True)
class _Seen:
    """The journal as last read: the file's stamp then (None: never), its records, whether it was torn, repeated lines."""

    stamp: tuple[int, int] | None = None
    records: tuple[TrialRecord, ...] = ()
    torn: bool = False
    repeated: int = 0


def _stamp(file: Path) -> tuple[int, int] | None:
    """What changes when the file does; None when there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


class RunFolder:
    """One search on disk."""

    def __init__(self, path: Path, search: SearchFile, clock: Clock | None = None) -> None:
        self.path = path
        self.search = _at(path, search)
        self.layout = RunLayout(folder=path)
        self._clock = clock or SystemClock()
        self._journal = _Seen()

    @classmethod
    def create(cls, path: Path, search: SearchFile, clock: Clock | None = None) -> RunFolder:
        """Make the folder with its search and an empty journal; ``search.json`` comes last.

        Raises ``UserError`` when the folder already holds something or cannot be written; nothing is left behind then.
        """
        path = path.absolute()
        layout = RunLayout(folder=path)
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        try:
            path.mkdir(parents=True, exist_ok=True)
            _refuse_foreign(layout)
            with drive(layout.lock):
                _refuse_foreign(layout)  # again: another process may have been as quick
                create_journal(layout.journal, search.id)
                write_atomic(layout.search, f"{search.to_json(indent=1)}\n".encode())
        except OSError as error:
            _remove(layout, missing)
            raise UserError(f"{path} cannot be written: {error.strerror}", "choose another folder with -o") from error
        return cls(path, search, clock)

    @classmethod
    def open(cls, path: Path, clock: Clock | None = None) -> RunFolder:
        """Read an existing folder. Raises ``UserError`` when it is none, or its search cannot be read."""
        path = path.absolute()
        file = RunLayout(folder=path).search
        if not file.is_file():
            raise UserError(f"{path} is not the folder of a search", "give a folder such as autotune-runs/NAME-TIME")
        return cls(path, read_search_file(file), clock)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Drive this run: mend the journal, settle the time spent. Raises ``UserError`` naming another live driver."""
        if not os.access(self.path, os.W_OK):
            raise UserError(f"{self.path} cannot be written", "run as its owner, or copy the folder")
        with drive(self.layout.lock):
            spent = self.spent_s()
            mend_journal(self.layout.journal)
            sweep(self.layout)
            self._keep(spent)
            yield

    def append(self, record: TrialRecord) -> None:
        """Journal a record, durably."""
        seen = self._read()
        append_record(self.layout.journal, record)
        self._journal = _Seen(_stamp(self.layout.journal), (*seen.records, record), seen.torn, seen.repeated)

    def records(self) -> list[TrialRecord]:
        """All journalled records, in order. Raises ``UserError`` when a line in the middle is corrupt."""
        return list(self._read().records)

    @property
    def torn(self) -> bool:
        """Whether the journal's last line was lost to a crash, as far as this object has seen."""
        return self._read().torn

    @property
    def repeated(self) -> int:
        """How many of the journal's lines are there twice, word for word; they are read once."""
        return self._read().repeated

    def write_front(self, front: Front) -> None:
        """Replace the answer."""
        write_atomic(self.layout.front, f"{front.to_json(indent=1)}\n".encode())

    def front(self) -> Front | None:
        """The answer; None when there is none yet. Raises ``UserError`` when it cannot be read."""
        try:
            return Front.model_validate_json(self.layout.front.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            raise UserError(
                f"{self.layout.front} cannot be read", "remove it, and run the search's --resume"
            ) from error

    def note_tracking(self, uri: str, run_id: str) -> None:
        """Keep where the tracker shows this search, once it is known."""
        tracking = Tracking(enabled=True, uri=uri, run_id=run_id)
        if tracking != self.search.tracking:
            self.search = self.search.model_copy(update={"tracking": tracking})
            write_atomic(self.layout.search, f"{self.search.to_json(indent=1)}\n".encode())

    def artifact_folder(self, sha256: str) -> Path:
        """Where the artifact of that hash lies."""
        return self.layout.artifact(sha256)

    def log_time(self, seconds: float) -> None:
        """Charge that much working time; call it every second or so, since what was not logged is lost with the driver."""
        self._keep(read_progress(self.layout.progress).spent_s + seconds)

    def spent_s(self) -> float:
        """Seconds worked, over all resumes."""
        return spent_s(read_progress(self.layout.progress), self._read().records)

    def _read(self) -> _Seen:
        """The journal, parsed again only when another process has changed it."""
        stamp = _stamp(self.layout.journal)
        if stamp is None or stamp != self._journal.stamp:
            contents = read_journal(self.layout.journal)
            if contents.search != self.search.id:
                raise UserError(
                    f"{self.layout.journal} is of another search ({contents.search}) than search.json ({self.search.id})",
                    "restore both files from one copy of the folder",
                )
            torn = contents.torn or self._journal.torn
            self._journal = _Seen(stamp, contents.records, torn, contents.repeated)
        return self._journal

    def _keep(self, seconds: float) -> None:
        write_progress(self.layout.progress, Progress(spent_s=seconds, as_of_s=self._clock.unix_s()))


def default_run_path(model_stem: str, now: datetime) -> Path:
    """Return ``autotune-runs/<stem>-<YYYYmmdd-HHMMSS>``, with a number behind it when that exists already."""
    base = Path("autotune-runs") / f"{model_stem}-{now:%Y%m%d-%H%M%S}"
    path, number = base, 2
    while path.exists():
        path, number = base.with_name(f"{base.name}-{number}"), number + 1
    return path


def _at(path: Path, search: SearchFile) -> SearchFile:
    """The search with its trials' folder at ``path``: a run folder may have been moved or copied."""
    context = search.context.model_copy(update={"folder": path})
    return search.model_copy(update={"context": context})


def _refuse_foreign(layout: RunLayout) -> None:
    """Raise ``UserError`` unless the folder is empty but for what a creation that was killed leaves behind."""
    if layout.search.exists():
        remedy = f"continue it with: autotune search --resume {layout.folder}, or choose another folder with -o"
        raise UserError(f"{layout.folder} already holds a search", remedy)
    temporary = (f".{layout.journal.name}.", f".{layout.search.name}.")
    names = {file.name for file in layout.folder.iterdir()} - {layout.lock.name, layout.journal.name}
    foreign = [name for name in names if not name.startswith(temporary)]
    if foreign:
        raise UserError(f"{layout.folder} is not empty: it holds {min(foreign)}", "choose another folder with -o")


def _remove(layout: RunLayout, missing: list[Path]) -> None:
    """Take back what a failed creation made: its files, then the folders that were ``missing``, deepest first."""
    for file in (layout.search, layout.journal, layout.lock):
        with contextlib.suppress(OSError):
            file.unlink()
    for folder in missing:
        with contextlib.suppress(OSError):
            folder.rmdir()

"""The journal: one JSON line a finished trial, appended and flushed to disk. It is the truth; all else is a view of it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from autotune.core.errors import UserError
from autotune.core.frozen import FileRecord
from autotune.core.trial import TrialRecord
from autotune.runs.atomic import write_atomic

__all__ = ["Contents", "JournalHeader", "append_record", "create_journal", "mend_journal", "read_journal"]

R = TypeVar("R", bound=FileRecord)


class JournalHeader(FileRecord):
    """The first line."""

    schema_: str = Field(default="autotune/journal/1", alias="schema")
    search: str


@dataclass(frozen=True)
class Contents:
    """What a journal holds. ``sound_bytes``: the length without a torn last line; ``torn``: whether there was one.

    ``repeated``: lines that are there already, word for word, as after a copy gone wrong; they are no records.
    """

    search: str
    records: tuple[TrialRecord, ...]
    sound_bytes: int
    torn: bool
    repeated: int = 0


def create_journal(path: Path, search: str) -> None:
    """Write a journal without records, for the search of that id."""
    write_atomic(path, f"{JournalHeader(search=search).to_json()}\n".encode())


def append_record(path: Path, record: TrialRecord) -> None:
    """Add one line, durably. A torn last line is cut off first. Raises ``OSError`` when the disk is full."""
    with path.open("r+b") as stream:
        end = stream.seek(0, os.SEEK_END)
        if os.pread(stream.fileno(), 1, max(end - 1, 0)) != b"\n":
            stream.seek(0)
            end = _sound_end(stream.read())
            stream.truncate(end)
        stream.seek(end)
        stream.write(f"{record.to_json()}\n".encode())
        stream.flush()
        os.fsync(stream.fileno())


def mend_journal(path: Path) -> None:
    """Cut off a torn last line, when there is one."""
    contents = read_journal(path)
    if contents.torn:
        os.truncate(path, contents.sound_bytes)


def read_journal(path: Path) -> Contents:
    """Read all of it; a torn last line is dropped and said. Raises ``UserError`` naming the line that cannot be read."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}", "give the folder of a search") from error
    end = _sound_end(content)
    lines = content[:end].splitlines()
    if not lines:
        raise _unreadable(path, 1, "it has no first line")
    header = _line(path, 1, lines[0], JournalHeader)
    numbered = {line: number for number, line in reversed(list(enumerate(lines[1:], start=2)))}
    once = sorted(numbered.items(), key=lambda item: item[1])
    records = tuple(_line(path, number, line, TrialRecord) for line, number in once)
    return Contents(header.search, records, end, torn=end < len(content), repeated=len(lines) - 1 - len(once))


def _sound_end(content: bytes) -> int:
    """The length of ``content`` without a last line that was not written whole.

    A line is whole when it ends in a newline and is JSON: a crash can leave the newline's block on disk without the
    ones before it.
    """
    end = content.rfind(b"\n") + 1
    start = content.rfind(b"\n", 0, max(end - 1, 0)) + 1
    return start if end and not _is_json(content[start:end]) else end


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _line(path: Path, number: int, line: bytes, kind: type[R]) -> R:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        first: Any = error.errors()[0]
        raise _unreadable(path, number, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def _unreadable(path: Path, number: int, why: str) -> UserError:
    return UserError(f"{path}, line {number}, cannot be read: {why}", "restore the file from a copy, or search anew")

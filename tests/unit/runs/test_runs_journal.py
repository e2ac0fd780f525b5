from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from autotune.core.errors import UserError
from autotune.core.trial import TrialRecord
from autotune.runs.folder import RunFolder

Record = Callable[..., TrialRecord]


def test_records_come_back_in_order(run: RunFolder, record: Record) -> None:
    for name in ("a", "b", "c"):
        run.append(record(name))
    assert [one.trial.id for one in RunFolder.open(run.path).records()] == ["a", "b", "c"]
    assert run.records() == RunFolder.open(run.path).records()


def test_records_another_process_appended_are_seen(run: RunFolder, record: Record) -> None:
    reader = RunFolder.open(run.path)
    assert reader.records() == []
    run.append(record("a"))
    assert [one.trial.id for one in reader.records()] == ["a"]


def test_torn_last_line_is_dropped_and_said(run: RunFolder, record: Record) -> None:
    run.append(record("a"))
    run.append(record("b"))
    whole = run.layout.journal.read_bytes()
    first = whole.index(b"\n") + 1
    second = whole.index(b"\n", first) + 1
    for cut in range(second + 1, len(whole)):
        run.layout.journal.write_bytes(whole[:cut])
        again = RunFolder.open(run.path)
        assert [one.trial.id for one in again.records()] == ["a"]
        assert again.torn


def test_journal_stays_valid_after_a_torn_line(run: RunFolder, record: Record) -> None:
    run.append(record("a"))
    with run.layout.journal.open("ab") as stream:
        stream.write(b'{"schema": "autot')
    again = RunFolder.open(run.path)
    again.append(record("b"))
    assert [one.trial.id for one in RunFolder.open(run.path).records()] == ["a", "b"]
    assert all(json.loads(line) for line in run.layout.journal.read_text().splitlines())


def test_last_line_of_zeros_counts_as_torn_and_is_cut_by_the_lock(run: RunFolder, record: Record) -> None:
    run.append(record("a"))
    sound = run.layout.journal.read_bytes()
    run.layout.journal.write_bytes(sound + b"\0" * 100 + b"\n")
    again = RunFolder.open(run.path)
    with again.lock():
        assert again.torn
        again.append(record("b"))
    assert [one.trial.id for one in RunFolder.open(run.path).records()] == ["a", "b"]


def test_corrupt_line_in_the_middle_names_file_and_line(run: RunFolder, record: Record) -> None:
    run.append(record("a"))
    lines = run.layout.journal.read_text().splitlines()
    run.layout.journal.write_text("\n".join([lines[0], "{broken", lines[1]]) + "\n")
    with pytest.raises(UserError, match=r"journal\.jsonl, line 2,"):
        RunFolder.open(run.path).records()


def test_newer_schema_on_the_last_line_is_refused_not_dropped(run: RunFolder, record: Record) -> None:
    run.append(record("a"))
    text = run.layout.journal.read_text()
    run.layout.journal.write_text(text + text.splitlines()[1].replace("journal/1", "journal/2") + "\n")
    with pytest.raises(UserError, match="journal/2"):
        RunFolder.open(run.path).records()


def test_a_journal_of_another_search_is_refused(run: RunFolder) -> None:
    text = run.layout.journal.read_text()
    run.layout.journal.write_text(text.replace(f'"{run.search.id}"', '"another"'))
    with pytest.raises(UserError, match="another search"):
        RunFolder.open(run.path).records()


def test_lines_that_are_there_twice_are_read_once_and_counted(run: RunFolder, record: Record) -> None:
    for name in ("t1", "t2"):
        run.append(record(name))
    header, *lines = run.layout.journal.read_text().splitlines(keepends=True)
    run.layout.journal.write_text("".join([header, *lines, *lines, lines[0]]))
    again = RunFolder.open(run.path)
    assert [found.trial.id for found in again.records()] == ["t1", "t2"]
    assert again.repeated == 3
